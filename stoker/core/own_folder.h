// A folder in which all files are this process's own, such as a run's. There AtomicFile puts its
// file in the place of a symbolic link instead of writing what the link names: whoever else may
// write into the folder must not choose which of the user's files is replaced. Links to folders are
// followed, so a run's checkpoints can lie on another disk. Any thread.
#pragma once

#include <filesystem>

namespace stoker {

// From construction to destruction; several may be of the same folder.
class OwnFolder {
 public:
  explicit OwnFolder(const std::filesystem::path& folder);
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder();

 private:
  std::filesystem::path folder_;  // empty: moved from
};

// Decided by the path's text, as AtomicFile got it.
[[nodiscard]] bool is_in_own_folder(const std::filesystem::path& file);

}  // namespace stoker
