#include "stoker/image/detail/tiff_file.h"

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include <tiffio.h>

#include "stoker/core/plain_text.h"

namespace stoker::detail {

// What libtiff calls. The file is its user data.
struct TiffCalls {
  static TiffFile& file(void* at) { return *static_cast<TiffFile*>(at); }

  static tmsize_t read(thandle_t at, void* out, tmsize_t size) {
    TiffFile& self = file(at);
    const std::size_t there = self.bytes_.size() - std::min(self.bytes_.size(), self.at_);
    const std::size_t count =
        std::min(there, static_cast<std::size_t>(std::max<tmsize_t>(0, size)));
    if (count > 0) std::memcpy(out, self.bytes_.data() + self.at_, count);
    self.at_ += count;
    return static_cast<tmsize_t>(count);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t at, toff_t offset, int from) {
    TiffFile& self = file(at);
    const std::size_t base = from == SEEK_CUR   ? self.at_
                             : from == SEEK_END ? self.bytes_.size()
                                                : 0;
    self.at_ = base + static_cast<std::size_t>(offset);  // reading beyond the end gives nothing
    return self.at_;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t at) { return file(at).bytes_.size(); }
  // Data is read where it lies. libtiff does not write to it: the file is open for reading.
  static int map(thandle_t at, void** first, toff_t* size) {
    *first = const_cast<std::byte*>(file(at).bytes_.data());
    *size = file(at).bytes_.size();
    return 1;
  }
  static void unmap(thandle_t, void*, toff_t) {}

  // Not 0: libtiff's handlers for the whole process are not asked.
  static int on_error(TIFF*, void* at, const char*, const char* format, std::va_list arguments) {
    TiffFile& self = file(at);
    if (self.errors_++ == 0) {
      std::vsnprintf(self.message_, sizeof self.message_, format, arguments);
    }
    return 1;
  }
  static int on_warning(TIFF*, void* at, const char*, const char*, std::va_list) {
    ++file(at).warnings_;
    return 1;
  }
};

bool TiffFile::open(std::span<const std::byte> bytes) {
  close();
  clear_messages();
  bytes_ = bytes;
  at_ = 0;
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             &TIFFOpenOptionsFree);
  if (options == nullptr) return false;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxTiffAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &TiffCalls::on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &TiffCalls::on_warning, this);
  // D: the tables of strips and tiles are read when pixels are, after the limits.
  handle_ = TIFFClientOpenExt("image", "rD", this, &TiffCalls::read, &TiffCalls::write,
                              &TiffCalls::seek, &TiffCalls::close, &TiffCalls::size,
                              &TiffCalls::map, &TiffCalls::unmap, options.get());
  return handle_ != nullptr;
}

void TiffFile::close() {
  if (handle_ != nullptr) TIFFClose(handle_);
  handle_ = nullptr;
}

void TiffFile::clear_messages() {
  errors_ = warnings_ = 0;
  message_[0] = '\0';
}

// Names in a file may hold anything.
std::string TiffFile::first_error() const {
  const std::string text = plain_text(message_);
  return text.empty() ? "damaged data" : text;
}

}  // namespace stoker::detail
