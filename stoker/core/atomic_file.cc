#include "stoker/core/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/core/own_folder.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::string hint_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "The disk or the quota is full: free some space or write to another disk.";
    case EACCES:
    case EPERM:
      return "Check the permissions of the folder, or write to another one.";
    case EROFS:
      return "This file system is read-only: write to another folder.";
    case EFBIG:
      return "The file is over the size limit of this process (see `ulimit -f`).";
    case ENAMETOOLONG:
      return "Choose a shorter file name.";
    case EIO:
      return "The disk reports a fault: see the system's log, and write to another disk.";
    default:
      return "Check that the folder can be written to, or write to another one.";
  }
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void check_target(const fs::path& path, const std::string& subject) {
  const std::string what = fmt::format("cannot write the {}", subject);
  std::error_code ignored;
  if (path.filename().empty() || fs::is_directory(path, ignored)) {
    throw Error({.what = what,
                 .path = path.string(),
                 .expected = "the name of a file",
                 .found = path.empty() ? "no name" : "a folder",
                 .hint = "Give the name of a file in that folder."});
  }
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, ignored)) {
    throw Error({.what = what + ": its folder does not exist",
                 .path = path.string(),
                 .hint = fmt::format("Create the folder {} first.", folder.string())});
  }
}

// The file that a link names, since a rename onto the link would replace the link.
fs::path resolve(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error) || is_in_own_folder(path)) return path;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real;  // a dangling link is replaced
}

// False where the file system has no such operation, which is no fault of the disk.
bool sync_failed(int descriptor) {
  return ::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path, std::string subject)
    : path_(path), subject_(std::move(subject)) {
  check_target(path_, subject_);
  target_ = resolve(path_);
  std::error_code ignored;
  const bool is_link = fs::is_symlink(target_, ignored);  // one to be replaced
  if (!is_link && fs::exists(target_, ignored) && !fs::is_regular_file(target_, ignored)) {
    open_in_place();
  } else {
    create_temporary();
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::open_in_place() {
  descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
}

void AtomicFile::create_temporary() {
  static std::atomic<unsigned> counter{0};
  fs::path name;
  do {
    // Not made from the target's name, which may already be as long as names can be. A file that
    // has the name was left by a killed process with our number: the next one is free.
    name = target_.parent_path() / fmt::format(".stoker-{}-{}.tmp", ::getpid(), counter++);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail(errno);
  temporary_ = std::move(name);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  STOKER_INVARIANT(descriptor_ >= 0, "write() after commit(): {}", path_.string());
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    if (written == 0) fail(EIO);  // never seen, but it must not loop
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  STOKER_INVARIANT(descriptor_ >= 0, "second commit(): {}", path_.string());
  // Before the rename: otherwise a crash could leave the new name with the data still unwritten.
  // Network and quota file systems report a full disk as late as here, or when closing.
  if (sync_failed(descriptor_)) fail(errno);
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  sync_folder();
}

void AtomicFile::sync_folder() const {
  const int folder =
      ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY);
  // A folder may be open to writing and not to reading. The rename is whole without this step; a
  // power cut just after it may bring the old file back.
  if (folder < 0) return;
  const bool failed = sync_failed(folder);
  const int error = errno;
  ::close(folder);
  if (failed) fail(error);
}

void AtomicFile::fail(int error) const {
  throw Error({.what = fmt::format("cannot write the {}", subject_),
               .path = path_.string(),
               .found = std::generic_category().message(error),
               .hint = hint_for(error)});
}

void write_whole_file(const fs::path& path, std::string_view text, const std::string& subject) {
  AtomicFile file(path, subject);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace stoker
