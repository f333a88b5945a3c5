// The same reports as Markdown, for a README or a thesis: tables in the text, plots as images
// that the caller writes beside it. Functions without state, safe from any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/image/image.h"
#include "stoker/report/run_report.h"

namespace stoker {

struct MarkdownReport {
  std::string text = {};
  struct ImageFile {
    std::string file = {};  // the name that the text has for it
    Image image = {};
  };
  std::vector<ImageFile> images = {};
};

// `stem` begins the names of the images.
[[nodiscard]] MarkdownReport run_markdown(const RunReport& run, const std::string& stem);
[[nodiscard]] MarkdownReport comparison_markdown(std::span<const RunReport> runs,
                                                 const std::string& stem);

}  // namespace stoker
