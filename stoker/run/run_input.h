// What a run trained on, read from its folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "stoker/data/sources/source.h"
#include "stoker/data/sources/table_columns.h"

namespace stoker {

struct RunInput {
  std::string data, policy;
  std::uint64_t seed = 0;
  std::shared_ptr<const Source> train;  // the samples it trained on, validation omitted
};

[[nodiscard]] bool is_run_folder(const std::filesystem::path& folder);
// Throws Error where args.yaml cannot be read or the data is gone.
[[nodiscard]] RunInput open_run_input(const std::filesystem::path& folder);

// Columns that are not given are those of the run whose weights these are; as given where the
// weights lie in no run's folder. Labels of one kind replace those of another.
[[nodiscard]] TableColumns with_run_columns(TableColumns given,
                                            const std::filesystem::path& weights);

}  // namespace stoker
