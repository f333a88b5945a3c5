#include "stoker/run/data_checks.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/data/sources/dark_images.h"
#include "stoker/data/sources/ignored_files.h"
#include "stoker/data/sources/source_task.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

}  // namespace

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

void check_class_names(const Source& source, const std::string& data) {
  for (const std::string& name : output_names(source)) {
    if (is_utf8(name)) continue;
    std::string path = data;
    for (const char* part : {"", "train"}) {
      const fs::path folder = fs::path(data) / part / name;
      std::error_code ignored;
      if (fs::is_directory(folder, ignored)) path = folder.string();
    }
    throw Error({.what = "the name of a class is not UTF-8",
                 .path = path,
                 .expected = "UTF-8, as weights and reports need it",
                 .found = fmt::format("\"{}\"", plain_text(name)),
                 .hint = "Rename the class: its folder, or its name in the list or table. For "
                         "names in Latin-1, convmv -f latin1 -t utf8 renames folders."});
  }
}

}  // namespace stoker
