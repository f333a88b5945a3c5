#include "stoker/data/sources/ignored_files.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/unknown_file.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source_view.h"
#include "stoker/image/other_formats.h"

namespace stoker {
namespace {

// A tool for the most frequent format, where it is known: "(magick in.gif out.png) ".
std::string conversion_of(const IgnoredFiles& ignored) {
  for (const auto& [reason, count] : ignored.kinds) {
    std::string_view extension = reason;
    if (!extension.starts_with(detail::kUnsupported)) continue;
    extension.remove_prefix(detail::kUnsupported.size());
    extension.remove_suffix(1);
    const OtherFormat* format = other_format_of(extension);
    return format == nullptr ? "" : fmt::format("({}) ", format->command);
  }
  return "";
}

}  // namespace

bool is_image_reason(std::string_view reason) {
  return reason.starts_with(detail::kUnsupported) || reason.starts_with(detail::kMisnamed);
}

IgnoredFiles count_ignored(std::span<const IgnoredPath> ignored,
                           const std::filesystem::path& root) {
  constexpr std::size_t kExamples = 3;
  IgnoredFiles result{.paths = ignored.size()};
  std::map<std::string, std::uint64_t> kinds;
  for (const IgnoredPath& path : ignored) {
    ++kinds[path.reason];
    if (!is_image_reason(path.reason)) continue;
    ++result.images;
    if (result.examples.size() < kExamples) result.examples.push_back((root / path.path).string());
  }
  result.kinds.assign(kinds.begin(), kinds.end());
  std::ranges::stable_sort(result.kinds, std::greater<>(), [](const auto& kind) {
    return std::pair(is_image_reason(kind.first), kind.second);
  });
  return result;
}

IgnoredFiles ignored_files_of(const Source& source) {
  const Source* at = &source;
  while (const auto* view = dynamic_cast<const SourceView*>(at)) at = &view->source();
  const auto* folder = dynamic_cast<const FolderSource*>(at);
  if (folder == nullptr) return {};
  return count_ignored(folder->listing().ignored, folder->listing().root);
}

std::string to_text(const IgnoredFiles& ignored) {
  if (ignored.paths == 0) return "";
  constexpr std::size_t kShown = 8;
  std::vector<std::string> kinds;
  std::uint64_t rest = ignored.paths;
  for (const auto& [reason, count] : ignored.kinds) {
    if (kinds.size() == kShown) break;
    kinds.push_back(fmt::format("{} {}", count, reason));
    rest -= count;
  }
  if (rest > 0) kinds.push_back(fmt::format("{} others", rest));
  return fmt::format("{} {}: {}", ignored.paths, ignored.paths == 1 ? "file" : "files",
                     fmt::join(kinds, ", "));
}

void refuse_ignored_images(const IgnoredFiles& ignored, const std::string& option) {
  if (ignored.images == 0) return;
  throw Error({.what = fmt::format(
                   "{} of the data look like images and cannot be used",
                   ignored.images == 1 ? "1 file" : fmt::format("{} files", ignored.images)),
               .path = ignored.examples.front(),
               .expected = fmt::format("{} with such an extension", kReadableFormats),
               .found = to_text(ignored),
               .hint = fmt::format("Convert {}or rename them, or pass `{}` to train without them.",
                                   conversion_of(ignored), option)});
}

}  // namespace stoker
