// The walk behind list_images: the listing, and for every folder that was read what tells whether
// it has changed since.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stoker/data/sources/image_folder.h"

namespace stoker::detail {

// A folder's time changes when an entry is added, removed or renamed. The change time, which no
// program can set back, catches those that restore the modification time (tar, rsync).
struct FolderStamp {
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool operator==(const FolderStamp&) const = default;
};

struct WalkedFolder {
  std::string path;  // relative to the root, which is ""
  FolderStamp stamp;
};

struct WalkedListing {
  ImageListing listing;
  std::vector<WalkedFolder> folders;
  // Some entry is a link that leads to no folder. What becomes of its file changes no stamp.
  bool has_file_links = false;
};

// As list_images. Stamps are taken before the folder is read: a change meanwhile makes them old.
[[nodiscard]] WalkedListing walk_images(const std::filesystem::path& root,
                                        EmptyClasses empty = EmptyClasses::kRefuse);

// Nothing where the folder does not exist.
[[nodiscard]] std::optional<FolderStamp> stamp_of(const std::filesystem::path& folder);

}  // namespace stoker::detail
