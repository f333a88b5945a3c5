#include "stoker/run/append_to_file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_append(const fs::path& path, int error) {
  throw Error({.what = "cannot write the run's log",
               .path = path.string(),
               .found = std::generic_category().message(error)});
}

// -1 where what has the name is no plain file. Without waiting for the reader of a pipe.
int open_plain(const fs::path& path) {
  const int descriptor = ::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    if (errno == ELOOP || errno == ENXIO) return -1;
    fail_append(path, errno);
  }
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) return descriptor;
  ::close(descriptor);
  return -1;
}

int open_log(const fs::path& path) {
  const int descriptor = open_plain(path);
  if (descriptor >= 0) return descriptor;
  ::unlink(path.c_str());
  const int made = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made < 0) fail_append(path, errno);
  return made;
}

}  // namespace

void append_to_file(const fs::path& path, std::string_view text) {
  const int descriptor = open_log(path);
  int error = 0;
  while (!text.empty() && error == 0) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno != EINTR) error = errno;
      continue;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::close(descriptor) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error != 0) fail_append(path, error);
}

}  // namespace stoker
