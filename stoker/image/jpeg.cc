#include "stoker/image/jpeg.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <jpeglib.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr int kMaxJpegSide = 65'500;

// libjpeg's way to end an operation: its default ends the process. The exception passes through its
// frames, for which x86-64 and ARM64 have the tables, and holds nothing that a jump would lose.
[[noreturn]] void throw_error(j_common_ptr state) {
  char message[JMSG_LENGTH_MAX] = {};
  state->err->format_message(state, message);
  throw Error({.what = "cannot encode an image as JPEG", .found = message});
}

// Ends what libjpeg holds on every way out.
struct Compression {
  jpeg_error_mgr errors{};
  jpeg_compress_struct state{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  Compression() {
    state.err = jpeg_std_error(&errors);
    errors.error_exit = throw_error;
    jpeg_create_compress(&state);
    jpeg_mem_dest(&state, &bytes, &size);
  }
  ~Compression() {
    jpeg_destroy_compress(&state);
    std::free(bytes);
  }
  Compression(const Compression&) = delete;
  Compression& operator=(const Compression&) = delete;
};

}  // namespace

std::vector<std::byte> encode_jpeg(const ImageView& image, int quality) {
  const ImageShape& shape = image.shape;
  check_shape(shape);
  refuse_wide(shape, "JPEG");
  if (quality < 1 || quality > 100 || shape.height > kMaxJpegSide || shape.width > kMaxJpegSide) {
    throw Error({.what = "cannot encode an image as JPEG",
                 .expected = "a quality of 1 to 100 and sides of at most 65500",
                 .found = fmt::format("{}, {}x{}", quality, shape.width, shape.height)});
  }
  Compression compression;
  jpeg_compress_struct& state = compression.state;
  state.image_width = static_cast<JDIMENSION>(shape.width);
  state.image_height = static_cast<JDIMENSION>(shape.height);
  state.input_components = shape.channels;
  state.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&state);
  jpeg_set_quality(&state, quality, TRUE);
  state.optimize_coding = TRUE;
  state.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&state, TRUE);
  for (int y = 0; y < shape.height; ++y) {
    JSAMPROW row = const_cast<JSAMPROW>(image.row(y));
    jpeg_write_scanlines(&state, &row, 1);
  }
  jpeg_finish_compress(&state);
  const auto* first = reinterpret_cast<const std::byte*>(compression.bytes);
  return {first, first + compression.size};
}

}  // namespace stoker
