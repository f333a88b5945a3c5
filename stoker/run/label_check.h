// Which labels of a data set a model doubts. The models of a cross-validation (`--folds`) say it of
// images that they have not seen, which is what makes the ranking good; a single run has learnt the
// labels that it is asked about, wrong ones too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "stoker/doctor/label_suspects.h"
#include "stoker/image/decode.h"
#include "stoker/run/run_settings.h"

namespace stoker {

struct LabelCheckOptions {
  ComputeSettings compute;
  DecodeLimits limits = {};
  // By the calling thread, with how many images are done.
  std::function<void(std::uint64_t done)> progress = {};
};

// Every image of the parts that have labels; those that cannot be read are passed over. Of a
// cross-validation's folder, each training image is seen by the model that did not train on it,
// other parts by the first model. `weights` may also be a run's folder or a model file. Throws
// Error where the data's classes are not the model's.
[[nodiscard]] LabelCheck check_labels(const std::filesystem::path& folder,
                                      const std::string& weights, const LabelCheckOptions& options);

}  // namespace stoker
