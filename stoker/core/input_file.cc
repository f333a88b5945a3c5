#include "stoker/core/input_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/memory_limit.h"

namespace stoker {
namespace {

// What a person can do about the usual reasons.
std::string reading_hint(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "Check the path.";
    case EACCES:
    case EPERM:
      return "Check who may read the file and the folders above it.";
    default:
      return "Check that the file can be read, e.g. with cat.";
  }
}

ErrorDetails errno_details(const char* what, const std::string& path, int error) {
  return {.what = what,
          .path = path,
          .found = std::generic_category().message(error),
          .hint = reading_hint(error)};
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// Smaller files are not worth a look at the limits.
constexpr std::uint64_t kAlwaysFits = std::uint64_t{64} << 20;

}  // namespace

Result<InputFile> InputFile::open(const std::filesystem::path& path, const char* what) {
  InputFile file;
  file.path_ = path.string();
  file.what_ = what;
  // O_NONBLOCK: a pipe is refused below, where opening would otherwise wait for a writer.
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.descriptor_ < 0 || ::fstat(file.descriptor_, &file.opened_) != 0) {
    return errno_details(what, file.path_, errno);
  }
  if (S_ISREG(file.opened_.st_mode)) return file;
  return ErrorDetails{.what = what,
                      .path = file.path_,
                      .expected = "a regular file",
                      .found = kind_of(file.opened_.st_mode),
                      .hint = "Copy the data into a file and name that."};
}

InputFile::InputFile(const std::filesystem::path& path, const char* what)
    : InputFile(open(path, what).value()) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      what_(other.what_),
      opened_(other.opened_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);  // ours is closed with the other object
  path_ = std::move(other.path_);
  what_ = other.what_;
  opened_ = other.opened_;
  return *this;
}

std::uint64_t InputFile::size() const noexcept {
  return static_cast<std::uint64_t>(opened_.st_size);
}

Result<std::span<const std::byte>> InputFile::read(std::uint64_t offset,
                                                   std::span<std::byte> out) const {
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_details(what_, path_, errno);
    if (got == 0) {
      return ErrorDetails{.what = what_,
                          .path = path_,
                          .offset = offset + done,
                          .found = "it became shorter while it was read"};
    }
    done += static_cast<std::size_t>(got);
  }
  return std::span<const std::byte>(out);
}

void InputFile::expect(std::uint64_t offset, std::uint64_t length) const noexcept {
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(length),
                  POSIX_FADV_WILLNEED);
}

bool InputFile::is_removed() const noexcept {
  struct stat now {};
  return descriptor_ >= 0 && ::fstat(descriptor_, &now) == 0 && now.st_nlink == 0;
}

void InputFile::check_unchanged() const {
  struct stat now {};
  if (::fstat(descriptor_, &now) != 0) throw Error(errno_details(what_, path_, errno));
  if (now.st_size == opened_.st_size && same_time(now.st_mtim, opened_.st_mtim)) return;
  throw Error({.what = what_,
               .path = path_,
               .found = "it was changed while it was read",
               .hint = "Replace files by renaming, not by writing into them."});
}

void InputFile::check_size(std::uint64_t most) const {
  if (size() > kAlwaysFits) most = std::min(most, memory_limit());
  if (size() <= most) return;
  throw Error({.what = what_,
               .path = path_,
               .expected = fmt::format("at most {} bytes", most),
               .found = fmt::format("{}", size()),
               .hint = "Is it the right file?"});
}

FileBytes::FileBytes(const std::filesystem::path& path, const char* what, std::uint64_t most)
    : FileBytes(InputFile(path, what), most) {}

FileBytes::FileBytes(const InputFile& file, std::uint64_t most) {
  file.check_size(most);
  if (file.size() == 0) return;
  pages_ = std::make_unique<Pages>(file.size(), "the content of a file");
  static_cast<void>(file.read(0, pages_->bytes()).value());
  file.check_unchanged();
}

std::span<const std::byte> FileBytes::bytes() const noexcept {
  if (pages_ == nullptr) return {};
  return pages_->bytes();
}

std::string_view FileBytes::text() const noexcept {
  return {reinterpret_cast<const char*>(bytes().data()), bytes().size()};
}

std::string read_text_file(const std::filesystem::path& path, const char* what,
                           std::uint64_t most) {
  return std::string(FileBytes(path, what, most).text());
}

}  // namespace stoker
