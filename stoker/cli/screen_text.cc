#include "stoker/cli/screen_text.h"

#include <cerrno>
#include <csignal>
#include <exception>

#include <fcntl.h>
#include <unistd.h>

#include "stoker/core/plain_text.h"

namespace stoker {
namespace {

// In the place of a file that nobody reads, so that later output, of whatever part of the program,
// finds a place too.
void drop_from_now_on(std::FILE* file) noexcept {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, ::fileno(file));
  ::close(nowhere);
  std::clearerr(file);
  std::fflush(file);  // what it still held
}

}  // namespace

void show_as_it_is(std::FILE* file, std::string_view text) noexcept {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (written && std::fflush(file) == 0) return;
  // EIO: the terminal is gone.
  if (errno == EPIPE || errno == EIO) drop_from_now_on(file);
}

void show(std::FILE* file, std::string_view text) noexcept {
  try {
    show_as_it_is(file, plain_lines(text));
  } catch (const std::exception&) {
    // Out of memory for a line on the screen: no reason to end the work.
  }
}

void outlive_readers() noexcept { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

}  // namespace stoker
