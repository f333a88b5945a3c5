#include "stoker/image/detail/jpeg_decoder.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include "stoker/image/detail/exif.h"
#include "stoker/image/detail/rows.h"

// libjpeg reports errors by longjmp. A jump skips destructors, so between the setjmp (run) and the
// places that jump there are only frames with plain variables; whatever owns memory lives in State
// or in the frame above.

namespace stoker::detail {

struct JpegState {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::jmp_buf on_error;
  char message[JMSG_LENGTH_MAX] = {};  // no std::string, it is written just before a jump
  std::span<const std::byte> bytes;
  std::span<const std::byte> exif;
  int max_scans = 0;
  int tolerated = 0;
  bool created = false;
  PixelBuffer row;  // for rows that cannot go straight to the caller's memory

  ~JpegState() {
    if (created) jpeg_destroy_decompress(&info);
  }
  [[nodiscard]] std::uint64_t offset() const { return bytes.size() - source.bytes_in_buffer; }
};

namespace {

using State = JpegState;

constexpr int kRowsAtOnce = 8;  // as many as libjpeg ever has ready
// Beyond an image's coefficients (2 bytes for each of at most 4 values of a pixel): working rows,
// of which the widest image has the largest.
constexpr long kWorkingBytes = 32L << 20, kCoefficientBytes = 8;
// Smooth chroma reads one neighbour on each side; at the border of what is decoded it has none. Two
// pixels are one of chroma.
constexpr int kMargin = 2;
// Of a part of the file: as much again for the step from what is transformed to blocks.
constexpr int kPartMargin = 2 * kMargin;

[[noreturn]] void give_up(State& state, const char* message) {
  std::snprintf(state.message, sizeof state.message, "%s", message);
  std::longjmp(state.on_error, 1);  // NOLINT(cert-err52-cpp): libjpeg's interface
}

[[noreturn]] void on_error(j_common_ptr info) {
  auto& state = *static_cast<State*>(info->client_data);
  info->err->format_message(info, state.message);
  std::longjmp(state.on_error, 1);  // NOLINT(cert-err52-cpp)
}

// Stray bytes between two segments, a JFIF version from the future, an Adobe transform that nobody
// knows (read as YCbCr, as all readers do), and numbers that mean something in progressive files
// only. Every other warning says that values are missing or wrong.
bool costs_no_pixel(int code) {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
         code == JWRN_NOT_SEQUENTIAL;
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace
  if (!costs_no_pixel(info->err->msg_code)) on_error(info);
  ++static_cast<State*>(info->client_data)->tolerated;
}

void print_nothing(j_common_ptr) {}

void start_nothing(j_decompress_ptr) {}

boolean on_end_of_bytes(j_decompress_ptr info) {
  give_up(*static_cast<State*>(info->client_data), "the end of the file inside the image");
}

void skip_bytes(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  if (static_cast<std::size_t>(count) > info->src->bytes_in_buffer) (void)on_end_of_bytes(info);
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= static_cast<std::size_t>(count);
}

void on_progress(j_common_ptr info) {
  auto& state = *static_cast<State*>(info->client_data);
  if (state.info.input_scan_number > state.max_scans) {
    give_up(state, "more scans than the limit allows");
  }
}

// Notes where EXIF lies and lets the segment pass. All bytes are in memory, so nothing is copied.
boolean on_app1(j_decompress_ptr info) {
  auto& state = *static_cast<State*>(info->client_data);
  if (info->src->bytes_in_buffer < 2) return on_end_of_bytes(info);
  const JOCTET* at = info->src->next_input_byte;
  const long length = at[0] << 8 | at[1];
  if (length < 2) give_up(state, "a segment whose length is below 2");
  skip_bytes(info, length);
  const auto segment = state.bytes.subspan(state.offset() - static_cast<std::size_t>(length) + 2,
                                           static_cast<std::size_t>(length) - 2);
  const bool exif = segment.size() > 6 && std::memcmp(segment.data(), "Exif\0\0", 6) == 0;
  if (exif && state.exif.empty()) state.exif = segment;
  return TRUE;
}

// False where libjpeg gave up. The only function that setjmp returns into.
template <class Step>
bool run(State& state, const Step& step) {
  if (setjmp(state.on_error) != 0) return false;  // NOLINT(cert-err52-cpp)
  step();
  return true;
}

// A new decompressor for each image: its tables would otherwise be those of the image before,
// for a file that brings none. Costs some ten small allocations.
void create(State& state, std::span<const std::byte> bytes) {
  if (state.created) jpeg_destroy_decompress(&state.info);
  state.created = false;
  state.info.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = on_error;
  state.errors.emit_message = on_message;
  state.errors.output_message = print_nothing;
  state.info.client_data = &state;  // jpeg_create_decompress keeps these two
  jpeg_create_decompress(&state.info);
  state.created = true;
  state.source = {.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data()),
                  .bytes_in_buffer = bytes.size(),
                  .init_source = start_nothing,
                  .fill_input_buffer = on_end_of_bytes,
                  .skip_input_data = skip_bytes,
                  .resync_to_restart = jpeg_resync_to_restart,
                  .term_source = start_nothing};
  state.info.src = &state.source;
  state.progress.progress_monitor = on_progress;
  state.info.progress = &state.progress;
  jpeg_set_marker_processor(&state.info, JPEG_APP0 + 1, on_app1);
}

// The marker at the end cannot occur inside the image's data, so its absence after the header is
// proof of a cut, whichever rows are asked for.
bool has_end(std::span<const std::byte> bytes) {
  for (std::size_t i = bytes.size(); i >= 2; --i) {
    if (bytes[i - 1] == std::byte{0xD9} && bytes[i - 2] == std::byte{0xFF}) return true;
  }
  return false;
}

ErrorDetails error_of(const State& state) {
  return decode_error(ImageFormat::kJpeg, state.message, state.offset());
}

StoredHeader header_of(State& state) {
  const auto& info = state.info;
  return {.format = ImageFormat::kJpeg,
          .width = static_cast<int>(info.image_width),
          .height = static_cast<int>(info.image_height),
          .orientation = exif_orientation(state.exif),
          .grey = info.num_components == 1,
          .cmyk = info.num_components == 4,
          .progressive = jpeg_has_multiple_scans(&state.info) != 0};
}

RowFormat row_format(const State& state, int channels) {
  if (state.info.num_components == 4) return RowFormat::kCmyk;
  return state.info.num_components == 1 && channels == 1 ? RowFormat::kGrey : RowFormat::kRgb;
}

void configure(State& state, const StoredRequest& request) {
  auto& info = state.info;
  const RowFormat format = row_format(state, request.channels);
  info.out_color_space = format == RowFormat::kCmyk   ? JCS_CMYK
                         : format == RowFormat::kGrey ? JCS_GRAYSCALE
                                                      : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  info.do_fancy_upsampling = TRUE;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(request.scale);
  info.mem->max_memory_to_use =
      kWorkingBytes + kCoefficientBytes * long{info.image_width} * long{info.image_height};
}

// libjpeg smooths blocks of a progressive image whose last scans are missing, from more
// neighbours than a margin has.
bool smooths_blocks(const jpeg_decompress_struct& info) {
  if (info.coef_bits == nullptr) return false;
  for (int component = 0; component < info.num_components; ++component) {
    const int* bits = info.coef_bits[component];
    if (std::any_of(bits, bits + DCTSIZE2, [](int missing) { return missing != 0; })) return true;
  }
  return false;
}

// A component that is scaled by less than the others and has to be stretched still, such as 4x2
// sampling at half size: there libjpeg-turbo 2.1 omits the wrong columns and rows.
bool miscounts(const jpeg_decompress_struct& info) {
  const int least = info.min_DCT_scaled_size;
  const auto wrong = [&info, least](const jpeg_component_info& component) {
    const int size = component.DCT_scaled_size;
    return size != least && (component.h_samp_factor * size != info.max_h_samp_factor * least ||
                             component.v_samp_factor * size != info.max_v_samp_factor * least);
  };
  const jpeg_component_info* first = info.comp_info;
  return std::any_of(first, first + info.num_components, wrong);
}

// Which columns libjpeg gives: at least those of `rect`, from the edge of a block on.
struct Columns {
  JDIMENSION first = 0, count = 0;
};

Columns crop_columns(State& state, const Region& rect) {
  auto& info = state.info;
  const int width = static_cast<int>(info.output_width);
  const int left = std::max(0, rect.left - kMargin);
  const int right = std::min(width, rect.left + rect.width + kMargin);
  Columns columns{static_cast<JDIMENSION>(left), static_cast<JDIMENSION>(right - left)};
  if (columns.count == info.output_width || smooths_blocks(info) || miscounts(info)) {
    return {0, info.output_width};
  }
  jpeg_crop_scanline(&info, &columns.first, &columns.count);
  return columns;
}

// `row` has room for all columns.
void skip_rows(State& state, int count, std::uint8_t* row) {
  if (count == 0) return;
  if (!miscounts(state.info)) {
    (void)jpeg_skip_scanlines(&state.info, static_cast<JDIMENSION>(count));
    return;
  }
  for (int y = 0; y < count; ++y) (void)jpeg_read_scanlines(&state.info, &row, 1);
}

void read_straight(State& state, const MutableImageView& window) {
  JSAMPROW rows[kRowsAtOnce];
  for (int y = 0; y < window.shape.height;) {
    const int count = std::min(kRowsAtOnce, window.shape.height - y);
    for (int i = 0; i < count; ++i) rows[i] = window.row(y + i);
    y += static_cast<int>(jpeg_read_scanlines(&state.info, rows, static_cast<JDIMENSION>(count)));
  }
}

void read_converted(State& state, const MutableImageView& out, std::size_t first_column,
                    RowFormat format, std::uint8_t* row) {
  const std::uint8_t* first = row + first_column * static_cast<std::size_t>(channels_of(format));
  for (int y = 0; y < out.shape.height; ++y) {
    (void)jpeg_read_scanlines(&state.info, &row, 1);
    convert_row(out.row(y), first, static_cast<std::size_t>(out.shape.width), format,
                out.shape.channels, {});
  }
}

// The view of `rect` in memory that has room for all columns that libjpeg writes.
MutableImageView place(PixelBuffer& memory, const Region& rect, int channels,
                       const Columns& columns, bool straight) {
  const ImageShape shape{.height = rect.height, .width = rect.width, .channels = channels};
  const std::size_t pixels = straight ? columns.count : static_cast<std::size_t>(rect.width);
  const std::size_t bytes_per_row = pixels * static_cast<std::size_t>(channels);
  std::uint8_t* first = memory.reserve(bytes_per_row * static_cast<std::size_t>(rect.height));
  return {first, shape, bytes_per_row};
}

void read_rows(State& state, const MutableImageView& out, const Region& rect,
               const Columns& columns, RowFormat format) {
  std::uint8_t* row =
      state.row.reserve(columns.count * static_cast<std::size_t>(channels_of(format)));
  skip_rows(state, rect.top, row);
  if (is_final(format, out.shape.channels)) return read_straight(state, out);
  const std::size_t first_column = static_cast<std::size_t>(rect.left) - columns.first;
  read_converted(state, out, first_column, format, row);
}

bool read_header(State& state, std::span<const std::byte> bytes) {
  state.bytes = bytes;
  state.exif = {};
  state.tolerated = 0;
  return run(state, [&state, bytes] {
    create(state, bytes);
    (void)jpeg_read_header(&state.info, TRUE);
  });
}

// The region is read without another look at the sides: libjpeg must have found the image in the
// part's header that jpeg_parts.cc has found there.
bool is_header_of(const jpeg_decompress_struct& info, const JpegPart& part, int components) {
  return info.image_width == static_cast<JDIMENSION>(part.width) &&
         info.image_height == static_cast<JDIMENSION>(part.height) &&
         info.num_components == components;
}

}  // namespace

JpegDecoder::JpegDecoder() : state_(std::make_unique<JpegState>()) {}
JpegDecoder::~JpegDecoder() = default;

Result<StoredHeader> JpegDecoder::open(std::span<const std::byte> bytes) {
  JpegState& state = *state_;
  if (!read_header(state, bytes)) return error_of(state);
  const int components = state.info.num_components;
  if (components != 1 && components != 3 && components != 4) {
    return decode_error(ImageFormat::kJpeg, fmt::format("{} colour components", components),
                        state.offset());
  }
  if (!has_end(bytes.subspan(state.offset()))) {
    return decode_error(ImageFormat::kJpeg, "no end-of-image marker: the file is cut short",
                        bytes.size());
  }
  return header_of(state);
}

Result<StoredPixels> JpegDecoder::decode(const StoredRequest& request, int max_scans,
                                         PixelBuffer& memory) {
  JpegState& state = *state_;
  state.max_scans = max_scans;
  const std::span<const std::byte> file = state.bytes;
  const auto part = parts_.find(file, request.region, request.scale, kPartMargin);
  if (!part) return decode_opened(request, memory);
  StoredRequest inside = request;
  inside.region.left -= part->left;
  inside.region.top -= part->top;
  const int components = state.info.num_components;
  if (read_header(state, part->bytes) && is_header_of(state.info, *part, components)) {
    auto pixels = decode_opened(inside, memory);
    if (pixels) return pixels;
  }
  // The file says what is wrong, and where.
  if (!read_header(state, file)) return error_of(state);
  return decode_opened(request, memory);
}

Result<StoredPixels> JpegDecoder::decode_opened(const StoredRequest& request, PixelBuffer& memory) {
  JpegState& state = *state_;
  const Region rect = pixels_covering(request.region, request.scale);
  Columns columns;
  bool done = run(state, [&] {
    configure(state, request);
    (void)jpeg_start_decompress(&state.info);
    columns = crop_columns(state, rect);
  });
  if (!done) return error_of(state);
  const RowFormat format = row_format(state, request.channels);
  const bool straight = is_final(format, request.channels);
  MutableImageView out = place(memory, rect, request.channels, columns, straight);
  done = run(state, [&] { read_rows(state, out, rect, columns, format); });
  if (!done) return error_of(state);
  if (straight)
    out.data += (static_cast<std::size_t>(rect.left) - columns.first) * out.shape.channels;
  return StoredPixels{.pixels = out, .tolerated = state.tolerated};
}

}  // namespace stoker::detail
