/// \file
/// What a training run writes beside its results; without LibTorch's headers.
#pragma once

#include <string>

namespace stoker {

/// Files besides the usual ones.
struct RecordOptions {
  bool tensorboard = false;
  bool histograms = false;  ///< of the weights, with tensorboard
  bool json_lines = false;
  std::string metrics_file = {};  ///< for Prometheus; empty: none
};

}  // namespace stoker
