// Reads CSV files of numbers, such as results.csv of a run.
#pragma once

#include <filesystem>

#include "stoker/report/run_report.h"

namespace stoker {

// The first line names the columns. A field that is no number, or is missing, is NaN. Throws Error
// where the file does not exist or is empty.
[[nodiscard]] NumberTable read_number_table(const std::filesystem::path& path);

}  // namespace stoker
