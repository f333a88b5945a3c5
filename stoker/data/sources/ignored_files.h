// Files that a listing omits, told to people: how many of which kind, and whether images are
// among them. An image in a format that is not read here would otherwise vanish without a word.
// Functions without state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/data/sources/image_folder.h"
#include "stoker/data/sources/source.h"

namespace stoker {

struct IgnoredFiles {
  std::uint64_t paths = 0;
  std::vector<std::pair<std::string, std::uint64_t>> kinds = {};  // reason and number, most first
  std::uint64_t images = 0;                // those that look like images, among `paths`
  std::vector<std::string> examples = {};  // of these, at most three, with their folder
};

// The reason why a path was omitted says that it is an image.
[[nodiscard]] bool is_image_reason(std::string_view reason);

[[nodiscard]] IgnoredFiles count_ignored(std::span<const IgnoredPath> ignored,
                                         const std::filesystem::path& root);
// Of the listing behind a source; nothing where it has none.
[[nodiscard]] IgnoredFiles ignored_files_of(const Source& source);

// "8 files: 5 unsupported image (.gif), 2 hidden, 1 junk (Thumbs.db)"; "" where there are none.
[[nodiscard]] std::string to_text(const IgnoredFiles& ignored);

// Throws Error where there are images among them. `option` is what accepts them: "skip_unknown".
void refuse_ignored_images(const IgnoredFiles& ignored, const std::string& option);

}  // namespace stoker
