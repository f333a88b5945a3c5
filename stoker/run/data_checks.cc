#include "stoker/run/data_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "stoker/data/sources/dark_images.h"
#include "stoker/data/sources/ignored_files.h"

namespace stoker {

std::vector<std::string> check_data(std::span<const DataPart> parts,
                                    const DataCheckOptions& options) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line) {
    // Two parts of one folder say the same.
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  };
  for (const DataPart& part : parts) {
    if (!part.source) continue;
    const IgnoredFiles ignored = ignored_files_of(*part.source);
    if (!options.skip_unknown) refuse_ignored_images(ignored, "skip_unknown");
    if (ignored.paths > 0) add(fmt::format("ignored    {}", to_text(ignored)));
    if (!options.decode_images) continue;
    const std::string warning = warn_of_dark_images(*part.source, options.limits);
    if (!warning.empty()) add(fmt::format("warning    {}", warning));
  }
  return lines;
}

}  // namespace stoker
