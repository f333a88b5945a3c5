// Reports of runs from the files in their folders (run_recorder.h says which). Nothing in a folder
// is trusted: it may come from another machine. What is missing is omitted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/report/run_report.h"

namespace stoker {

enum class ReportFormat { kHtml, kMarkdown };

// Throws Error where there is no results.csv, or a file is not what it should be.
[[nodiscard]] RunReport read_run(const std::filesystem::path& folder);

// One run: all of it. Several: how they differ. Markdown brings its plots as PNG files beside it.
void write_report(const std::vector<std::string>& runs, const std::filesystem::path& path,
                  ReportFormat format);

}  // namespace stoker
