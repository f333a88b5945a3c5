#include "stoker/image/png.h"

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <new>
#include <utility>

#include <png.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

// libpng reports errors by longjmp. A jump skips destructors, so between the setjmp (run_encoder)
// and the places that jump there are only frames with plain variables; whatever owns memory lives
// in the frame above.

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
  const int color_type = image.shape.channels == 1   ? PNG_COLOR_TYPE_GRAY
                         : image.shape.channels == 3 ? PNG_COLOR_TYPE_RGB
                                                     : PNG_COLOR_TYPE_RGBA;
  png_set_user_limits(png, kMaxSide, kMaxSide);  // libpng's own limit, a million, is a bit lower
  png_set_IHDR(png, info, width, height, image.shape.depth, color_type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const bool little = std::endian::native == std::endian::little;
  if (little && image.shape.depth == 16) png_set_swap(png);
  for (int y = 0; y < image.shape.height; ++y) png_write_row(png, image.row(y));
  png_write_end(png, info);
}

// False where libpng gave up. The only function that setjmp returns into.
bool run_encoder(png_structp png, png_infop info, const ImageView& image) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp): libpng's interface
  emit_image(png, info, image);
  return true;
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

void write_png(const std::filesystem::path& path, const ImageView& image) {
  AtomicFile file(path, "image");  // first: a wrong path costs no encoding
  file.write(encode_png(image));
  file.commit();
}

}  // namespace stoker
