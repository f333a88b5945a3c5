// What a run trained on, read from its folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "stoker/data/sources/source.h"

namespace stoker {

struct RunInput {
  std::string data, policy;
  std::uint64_t seed = 0;
  std::shared_ptr<const Source> train;  // the samples it trained on, validation omitted
};

[[nodiscard]] bool is_run_folder(const std::filesystem::path& folder);
// Throws Error where args.yaml cannot be read or the data is gone.
[[nodiscard]] RunInput open_run_input(const std::filesystem::path& folder);

}  // namespace stoker
