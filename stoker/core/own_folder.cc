#include "stoker/core/own_folder.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct OwnFolders {
  std::mutex mutex;
  std::vector<fs::path> all;
};

OwnFolders& own_folders() {
  static OwnFolders folders;
  return folders;
}

fs::path whole_path(const fs::path& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();  // "runs/a/"
}

}  // namespace

OwnFolder::OwnFolder(const fs::path& folder) : folder_(whole_path(folder)) {
  OwnFolders& folders = own_folders();
  const std::scoped_lock lock(folders.mutex);
  folders.all.push_back(folder_);
}

OwnFolder::OwnFolder(OwnFolder&& other) noexcept : folder_(std::move(other.folder_)) {
  other.folder_.clear();
}

OwnFolder::~OwnFolder() {
  if (folder_.empty()) return;
  OwnFolders& folders = own_folders();
  const std::scoped_lock lock(folders.mutex);
  const auto place = std::ranges::find(folders.all, folder_);
  if (place != folders.all.end()) folders.all.erase(place);
}

bool is_in_own_folder(const fs::path& file) {
  const fs::path whole = whole_path(file);
  OwnFolders& folders = own_folders();
  const std::scoped_lock lock(folders.mutex);
  return std::ranges::any_of(folders.all, [&](const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), whole.begin(), whole.end()).first ==
           folder.end();
  });
}

}  // namespace stoker
