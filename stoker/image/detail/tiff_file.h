// A TIFF file in memory, opened with libtiff. libtiff prints nothing: its messages are kept here,
// for each file on its own, so that threads do not meet. It takes no more memory at a time than
// kMaxTiffAllocation, and makes no system call.
#pragma once

#include <cstddef>
#include <span>
#include <string>

struct tiff;  // libtiff's TIFF

namespace stoker::detail {

// libtiff's own memory: tables of strips and tiles, strips whose bits are in the other order. It
// writes pixels into ours.
inline constexpr std::ptrdiff_t kMaxTiffAllocation = 16 << 20;

class TiffFile {
 public:
  TiffFile() = default;
  ~TiffFile() { close(); }
  TiffFile(const TiffFile&) = delete;  // libtiff keeps its address
  TiffFile& operator=(const TiffFile&) = delete;

  // Reads the first directory. `bytes` must stay until close(). False where libtiff refuses.
  [[nodiscard]] bool open(std::span<const std::byte> bytes);
  void close();

  [[nodiscard]] tiff* handle() const { return handle_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  // What libtiff said since the last clear_messages(): the first error, and how many.
  [[nodiscard]] std::string first_error() const;
  [[nodiscard]] int errors() const { return errors_; }
  [[nodiscard]] int warnings() const { return warnings_; }
  void clear_messages();

 private:
  friend struct TiffCalls;

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  tiff* handle_ = nullptr;
  int errors_ = 0, warnings_ = 0;
  char message_[200] = {};  // no std::string: libtiff's frames must not see an exception
};

}  // namespace stoker::detail
