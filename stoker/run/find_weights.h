// Published weights by name: `pretrained` resnet50, or the name under which a file is published.
//
// They are looked for in folders of this machine, by file name, and their SHA-256 must begin with
// the digits in it. Nothing is fetched unless that was asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/environment.h"
#include "stoker/store/store_options.h"

namespace stoker {

struct WeightsSearch {
  std::string folder = {};  // to look in and to fetch into; empty: $STOKER_WEIGHTS
  bool download = false;
  Environment environment = environment_variable;
  RetryOptions retry = {};
  // Of a file that is fetched; bytes.
  std::function<void(const std::string& file, std::uint64_t done, std::uint64_t total)> progress =
      {};
};

// Where files are looked for, in this order: the folder that was given or $STOKER_WEIGHTS, then the
// one where PyTorch keeps its downloads, $TORCH_HOME/hub/checkpoints or
// ~/.cache/torch/hub/checkpoints.
[[nodiscard]] std::vector<std::filesystem::path> weights_folders(const WeightsSearch& search);

// The file of a name without a folder, where no file or folder of that name is there and we know
// it; else nothing: the text is a path. Throws Error, with the address and the digits, where the
// file is in no folder and may not be fetched; where it cannot be; or where it has other digits.
[[nodiscard]] std::optional<std::filesystem::path> find_published(const std::string& name,
                                                                  const WeightsSearch& search);

}  // namespace stoker
