#include "stoker/image/detail/png_decoder.h"

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include <png.h>

#include "stoker/image/detail/png_chunks.h"
#include "stoker/image/detail/rows.h"

// libpng reports errors by longjmp; png.cc says what that means for the code between.

namespace stoker::detail {
namespace {

constexpr png_alloc_size_t kMaxChunk = 1 << 20;  // PLTE and tRNS have at most 768 bytes

struct ReadState {
  std::span<const std::byte> bytes;
  std::size_t used = 0;
  char message[160] = {};  // no std::string, it is written just before a jump
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<ReadState*>(png_get_error_ptr(png));
  std::snprintf(state->message, sizeof state->message, "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}  // about chunks that make no pixels

void take_bytes(png_structp png, png_bytep out, std::size_t size) {
  auto* state = static_cast<ReadState*>(png_get_io_ptr(png));
  if (size > state->bytes.size() - state->used) png_error(png, "the end of the file");
  std::memcpy(out, state->bytes.data() + state->used, size);
  state->used += size;
}

// Both libpng structs, freed on every way out.
class Reader {
 public:
  explicit Reader(ReadState* state)
      : png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning)),
        info_(png_ == nullptr ? nullptr : png_create_info_struct(png_)) {
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, state, take_bytes);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] png_structp png() const { return png_; }
  [[nodiscard]] png_infop info() const { return info_; }

 private:
  png_structp png_;
  png_infop info_;
};

// False where libpng gave up. The only function that setjmp returns into.
template <class Step>
bool run(png_structp png, const Step& step) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;  // NOLINT(cert-err52-cpp): libpng's interface
  step();
  return true;
}

// Grey, RGB or RGBA, whatever is stored, of 8 or 16 bits.
RowFormat start(png_structp png, png_infop info, const StoredHeader& header, int depth) {
  png_set_user_limits(png, static_cast<png_uint_32>(header.width),
                      static_cast<png_uint_32>(header.height));
  png_set_chunk_malloc_max(png, kMaxChunk);
  // -1: every chunk that makes no pixels, known to libpng or not.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(png, info);
  png_set_expand(png);
  if (depth == 8) png_set_strip_16(png);
  if (depth == 16 && std::endian::native == std::endian::little) png_set_swap(png);
  const bool transparent = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                           png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  if (transparent) png_set_gray_to_rgb(png);
  (void)png_set_interlace_handling(png);
  png_read_update_info(png, info);
  switch (png_get_channels(png, info)) {
    case 1:
      return RowFormat::kGrey;
    case 3:
      return RowFormat::kRgb;
    default:
      return RowFormat::kRgba;
  }
}

// What is read, and where it goes.
struct Job {
  png_structp png;
  png_infop info;
  StoredHeader header;
  StoredRequest request;
  RowFormat format;
  MutableImageView out;

  [[nodiscard]] std::size_t pixel_bytes() const {
    return static_cast<std::size_t>(channels_of(format) * request.depth / 8);
  }
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(header.width) * pixel_bytes();
  }
  [[nodiscard]] int last_row() const { return request.region.top + request.region.height; }
  // Rows may be unpacked where the caller wants them.
  [[nodiscard]] bool straight() const {
    return !header.progressive && is_final(format, request.channels) &&
           request.region.width == header.width;
  }
  void convert(int stored_row, const std::uint8_t* row) const {
    const Region& region = request.region;
    const std::uint8_t* first = row + static_cast<std::size_t>(region.left) * pixel_bytes();
    const auto width = static_cast<std::size_t>(region.width);
    const int y = stored_row - region.top;
    if (request.depth == 8) {
      convert_row(out.row(y), first, width, format, request.channels, request.background);
    } else {
      convert_row(out.values<std::uint16_t>(y), reinterpret_cast<const std::uint16_t*>(first),
                  width, format, request.channels, request.background);
    }
  }
};

void read_sequential(const Job& job, std::uint8_t* row) {
  for (int y = 0; y < job.request.region.top; ++y) png_read_row(job.png, row, nullptr);
  for (int y = job.request.region.top; y < job.last_row(); ++y) {
    if (job.straight()) {
      png_read_row(job.png, job.out.row(y - job.request.region.top), nullptr);
    } else {
      png_read_row(job.png, row, nullptr);
      job.convert(y, row);
    }
  }
}

// Each of the seven passes fills in some pixels of some rows.
void read_interlaced(const Job& job, std::uint8_t* image) {
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
    for (int y = 0; y < job.header.height; ++y) {
      png_read_row(job.png, image + static_cast<std::size_t>(y) * job.row_bytes(), nullptr);
    }
  }
  for (int y = job.request.region.top; y < job.last_row(); ++y) {
    job.convert(y, image + static_cast<std::size_t>(y) * job.row_bytes());
  }
}

void read_all(const Job& job, std::uint8_t* work) {
  if (job.header.progressive) {
    read_interlaced(job, work);
  } else {
    read_sequential(job, work);
  }
  // The checksum of the last chunk of pixels; a region that ends higher stops before it.
  if (job.header.progressive || job.last_row() == job.header.height) {
    png_read_end(job.png, nullptr);
  }
}

}  // namespace

Result<StoredHeader> PngDecoder::open(std::span<const std::byte> bytes) {
  bytes_ = bytes;
  auto header = read_png_header(bytes);
  if (header) header_ = *header;
  return header;
}

Result<StoredPixels> PngDecoder::decode(const StoredRequest& request, PixelBuffer& memory) {
  ReadState state{.bytes = bytes_};
  const Reader reader(&state);
  Job job{reader.png(), reader.info(), header_, request, RowFormat::kRgb, {}};
  bool done = run(job.png, [&] { job.format = start(job.png, job.info, header_, request.depth); });
  if (done) {
    const ImageShape shape = request.shape();
    job.out = {memory.reserve(shape.bytes()), shape, shape.bytes_per_row()};
    const int rows = header_.progressive ? header_.height : 1;
    std::uint8_t* work = work_.reserve(job.row_bytes() * static_cast<std::size_t>(rows));
    done = run(job.png, [&] { read_all(job, work); });
  }
  if (!done) return decode_error(ImageFormat::kPng, state.message, state.used);
  return StoredPixels{.pixels = job.out};
}

}  // namespace stoker::detail
