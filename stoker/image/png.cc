#include "stoker/image/png.h"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <png.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// ---- Encoding. libpng reports errors by longjmp. A jump skips destructors, so between the setjmp
// ---- (run_encoder) and the places that jump there are only frames with plain variables; whatever
// ---- owns memory lives in the frame above.

struct EncodeState {
  std::vector<std::byte> bytes;
  char message[160] = {};  // of libpng; no std::string, it is written just before a jump
  bool out_of_memory = false;
};

// Both libpng structs, freed on every way out.
class Encoder {
 public:
  Encoder(EncodeState* state, png_error_ptr on_error, png_error_ptr on_warning)
      : png_(png_create_write_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {}
  ~Encoder() { png_destroy_write_struct(&png_, &info_); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  [[nodiscard]] bool ready() const { return info_ != nullptr; }
  [[nodiscard]] png_structp png() const { return png_; }
  [[nodiscard]] png_infop info() const { return info_; }

 private:
  png_structp png_;
  png_infop info_;
};

[[noreturn]] void on_png_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<EncodeState*>(png_get_error_ptr(png));
  std::snprintf(state->message, sizeof state->message, "%s", message);
  png_longjmp(png, 1);
}

void on_png_warning(png_structp, png_const_charp) {}  // libraries never print

void append_bytes(png_structp png, png_bytep data, std::size_t size) {
  auto* state = static_cast<EncodeState*>(png_get_io_ptr(png));
  try {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    state->bytes.insert(state->bytes.end(), first, first + size);
  } catch (const std::exception&) {  // must not pass through C frames
    state->out_of_memory = true;
  }
  // Outside the handler: a jump out of it would leak the exception.
  if (state->out_of_memory) png_error(png, "out of memory");
}

void flush_nothing(png_structp) {}

void emit_image(png_structp png, png_infop info, const ImageView& image) {
  const auto width = static_cast<png_uint_32>(image.shape.width);
  const auto height = static_cast<png_uint_32>(image.shape.height);
  const int color_type = image.shape.channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY;
  png_set_user_limits(png, kMaxSide, kMaxSide);  // libpng's own limit, a million, is a bit lower
  png_set_IHDR(png, info, width, height, 8, color_type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int y = 0; y < image.shape.height; ++y) png_write_row(png, image.row(y));
  png_write_end(png, info);
}

// False where libpng gave up. The only function that setjmp returns into.
bool run_encoder(png_structp png, png_infop info, const ImageView& image) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp): libpng's interface
  emit_image(png, info, image);
  return true;
}

// ---- Writing files.

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
    default:
      return "";
  }
}

[[noreturn]] void fail_write(const char* what, const fs::path& path, int error) {
  throw Error({.what = what,
               .path = path.string(),
               .found = std::generic_category().message(error),
               .hint = hint_for(error)});
}

// Owns an open file descriptor. `path` must outlive it; messages name it, since the user knows that
// name and not the temporary one.
class OutputFile {
 public:
  OutputFile(int descriptor, const fs::path& path) : descriptor_(descriptor), path_(path) {}
  ~OutputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write_all(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_write("cannot write the image", path_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  // Network and quota file systems report a full disk as late as here.
  void sync() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) {
      fail_write("cannot write the image", path_, errno);
    }
  }

  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
      fail_write("cannot write the image", path_, errno);
    }
  }

 private:
  int descriptor_;
  const fs::path& path_;
};

// A fresh name beside the target, removed again unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : target_(target) {
    static std::atomic<unsigned> counter{0};
    do {
      // Not made from the target's name, which may already be as long as names can be.
      name_ = target.parent_path() / fmt::format(".stoker-{}-{}.tmp", ::getpid(), counter++);
      descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
    if (descriptor_ < 0) fail_write("cannot create the image file", target, errno);
  }
  ~TemporaryFile() {
    if (!renamed_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  void rename_to_target() {
    if (std::rename(name_.c_str(), target_.c_str()) != 0) {
      fail_write("cannot give the image file its name", target_, errno);
    }
    renamed_ = true;
  }

 private:
  fs::path target_;
  fs::path name_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

void write_in_place(const fs::path& path, std::span<const std::byte> bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail_write("cannot open for writing", path, errno);
  OutputFile file(descriptor, path);
  file.write_all(bytes);
  file.close();
}

void write_and_rename(const fs::path& path, std::span<const std::byte> bytes) {
  TemporaryFile temporary(path);
  OutputFile file(temporary.descriptor(), path);
  file.write_all(bytes);
  file.sync();
  file.close();
  temporary.rename_to_target();
}

void check_target(const fs::path& path) {
  std::error_code ignored;
  if (path.filename().empty() || fs::is_directory(path, ignored)) {
    throw Error({.what = "cannot write the image",
                 .path = path.string(),
                 .expected = "the name of a file",
                 .found = path.empty() ? "no name" : "a folder",
                 .hint = "Give a file name such as sheet.png."});
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    throw Error({.what = "cannot write the image: its folder does not exist",
                 .path = path.string(),
                 .hint = fmt::format("Create the folder {} first.", folder.string())});
  }
}

}  // namespace

std::vector<std::byte> encode_png(const ImageView& image) {
  check_shape(image.shape);
  EncodeState state;
  const Encoder encoder(&state, on_png_error, on_png_warning);
  if (!encoder.ready()) throw std::bad_alloc();
  png_set_write_fn(encoder.png(), &state, append_bytes, flush_nothing);
  const bool done = run_encoder(encoder.png(), encoder.info(), image);
  if (state.out_of_memory) throw std::bad_alloc();
  if (!done) throw Error({.what = "cannot encode the image as PNG", .found = state.message});
  return std::move(state.bytes);
}

void write_png(const fs::path& path, const ImageView& image) {
  check_target(path);
  const std::vector<std::byte> bytes = encode_png(image);
  std::error_code error;
  const fs::path real = fs::is_symlink(path, error) ? fs::canonical(path, error) : path;
  const fs::path& target = real.empty() ? path : real;  // a dangling link is replaced
  // Renaming onto a device node would replace it by a file.
  if (fs::exists(target, error) && !fs::is_regular_file(target, error)) {
    write_in_place(target, bytes);
  } else {
    write_and_rename(target, bytes);
  }
}

}  // namespace stoker
