#include "stoker/data/sources/left_out.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/detail/unknown_file.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/source_view.h"

namespace stoker {

bool is_image_reason(std::string_view reason) {
  return reason.starts_with(detail::kUnsupported) || reason.starts_with(detail::kMisnamed);
}

LeftOut count_left_out(std::span<const IgnoredPath> ignored, const std::filesystem::path& root) {
  constexpr std::size_t kExamples = 3;
  LeftOut result{.paths = ignored.size()};
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

LeftOut left_out_of(const Source& source) {
  const Source* at = &source;
  while (const auto* view = dynamic_cast<const SourceView*>(at)) at = &view->source();
  const auto* folder = dynamic_cast<const FolderSource*>(at);
  if (folder == nullptr) return {};
  return count_left_out(folder->listing().ignored, folder->listing().root);
}

std::string to_text(const LeftOut& left_out) {
  if (left_out.paths == 0) return "";
  constexpr std::size_t kShown = 8;
  std::vector<std::string> kinds;
  std::uint64_t rest = left_out.paths;
  for (const auto& [reason, count] : left_out.kinds) {
    if (kinds.size() == kShown) break;
    kinds.push_back(fmt::format("{} {}", count, reason));
    rest -= count;
  }
  if (rest > 0) kinds.push_back(fmt::format("{} others", rest));
  return fmt::format("{} {}: {}", left_out.paths, left_out.paths == 1 ? "file" : "files",
                     fmt::join(kinds, ", "));
}

void refuse_left_out_images(const LeftOut& left_out, const std::string& option) {
  if (left_out.images == 0) return;
  throw Error(
      {.what =
           fmt::format("{} of the data look like images and cannot be used",
                       left_out.images == 1 ? "1 file" : fmt::format("{} files", left_out.images)),
       .path = left_out.examples.front(),
       .expected = "JPEG, PNG or WebP with such an extension",
       .found = to_text(left_out),
       .hint = fmt::format("Convert or rename them, or pass `{}` to train without them.", option)});
}

}  // namespace stoker
