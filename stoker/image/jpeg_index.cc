#include "stoker/image/jpeg_index.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <jpeglib.h>

#include "stoker/core/error.h"
#include "stoker/image/detail/jpeg_parts.h"

namespace stoker {
namespace {

constexpr std::int64_t kEighthPixels = 1'000'000;  // smaller images are seldom decoded at 1/8
constexpr int kScale = 8;
constexpr int kIntervals = 16;   // in a row of a large image, at most
constexpr int kFewestUnits = 4;  // in an interval: markers of fewer cost bytes and save little
constexpr std::size_t kFirstBytes = 64 << 10;  // of what is written; doubled when they are full
constexpr long kWorkingBytes = 32L << 20, kCoefficientBytes = 8;

// Any error and any warning: the image is then left as it is.
struct NotIndexed {};

// The exceptions pass through libjpeg's frames, as those of jpeg.cc do.
[[noreturn]] void give_up(j_common_ptr) { throw NotIndexed(); }
void on_message(j_common_ptr, int level) {
  if (level < 0) throw NotIndexed();
}

void use_exceptions(jpeg_error_mgr& errors) {
  errors.error_exit = give_up;
  errors.emit_message = on_message;
}

struct Reading {
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  jpeg_decompress_struct state{};
  int max_scans;

  Reading(std::span<const std::byte> jpeg, int scans) : max_scans(scans) {
    state.err = jpeg_std_error(&errors);
    use_exceptions(errors);
    state.client_data = this;
    progress.progress_monitor = limit_scans;
    jpeg_create_decompress(&state);
    state.progress = &progress;
    jpeg_mem_src(&state, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  }
  // Each scan costs a pass over all coefficients, and may have only 20 bytes.
  static void limit_scans(j_common_ptr info) {
    const auto& reading = *static_cast<const Reading*>(info->client_data);
    if (reading.state.input_scan_number > reading.max_scans) throw NotIndexed();
  }
  ~Reading() { jpeg_destroy_decompress(&state); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
};

// libjpeg's own destination in memory frees what it gave its caller as soon as it needs more, and
// tells so only at the end: on any other way out it would be freed twice.
struct Writing {
  jpeg_error_mgr errors{};
  jpeg_destination_mgr destination{};
  jpeg_compress_struct state{};
  std::vector<std::byte> bytes;

  Writing() {
    state.err = jpeg_std_error(&errors);
    use_exceptions(errors);
    state.client_data = this;
    jpeg_create_compress(&state);
    destination.init_destination = begin;
    destination.empty_output_buffer = grow;
    destination.term_destination = end;
    state.dest = &destination;
  }
  ~Writing() { jpeg_destroy_compress(&state); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;

 private:
  static Writing& of(j_compress_ptr info) { return *static_cast<Writing*>(info->client_data); }
  void extend(std::size_t more) {
    const std::size_t used = bytes.size();
    bytes.resize(used + more);
    destination.next_output_byte = reinterpret_cast<JOCTET*>(bytes.data()) + used;
    destination.free_in_buffer = more;
  }
  static void begin(j_compress_ptr info) { of(info).extend(kFirstBytes); }
  // Called when all of it is full, whatever free_in_buffer says.
  static boolean grow(j_compress_ptr info) {
    of(info).extend(of(info).bytes.size());
    return TRUE;
  }
  static void end(j_compress_ptr info) {
    of(info).bytes.resize(of(info).bytes.size() - of(info).destination.free_in_buffer);
  }
};

// The smallest divisor of the columns with units enough in an interval: a whole row where their
// number is prime.
int interval_for(int columns) {
  int units = std::min(columns, std::max(kFewestUnits, columns / kIntervals));
  while (columns % units != 0) ++units;
  return units;
}

int columns_of(const jpeg_decompress_struct& state) {
  const int unit = state.num_components == 1 ? DCTSIZE : DCTSIZE * state.max_h_samp_factor;
  return (static_cast<int>(state.image_width) + unit - 1) / unit;
}

// What libjpeg reads of a block that it decodes to `size` x `size` pixels.
bool is_read(int coefficient, int size) {
  const auto counts = [size](int place) {
    return size == 1 ? place == 0 : size == 2 ? place == 0 || place % 2 == 1 : place != 4;
  };
  return size >= DCTSIZE || (counts(coefficient / DCTSIZE) && counts(coefficient % DCTSIZE));
}

// How many pixels a side of each component's blocks has at this scale. Leaves the scale at 1:
// coefficients that a scale does not need would not be read.
std::vector<int> block_sizes(jpeg_decompress_struct& state, int scale) {
  state.scale_denom = static_cast<unsigned>(scale);
  jpeg_calc_output_dimensions(&state);
  std::vector<int> sizes;
  for (int c = 0; c < state.num_components; ++c) {
    sizes.push_back(state.comp_info[c].DCT_scaled_size);
  }
  state.scale_denom = 1;
  jpeg_calc_output_dimensions(&state);
  return sizes;
}

void clear_unread(jpeg_decompress_struct& state, jvirt_barray_ptr* coefficients,
                  const std::vector<int>& sizes) {
  for (int c = 0; c < state.num_components; ++c) {
    const jpeg_component_info& component = state.comp_info[c];
    const int size = sizes[static_cast<std::size_t>(c)];
    const auto factor = static_cast<JDIMENSION>(component.h_samp_factor);
    const JDIMENSION stored = (component.width_in_blocks + factor - 1) / factor * factor;
    for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
      JBLOCKROW row = *state.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&state),
                                                     coefficients[c], y, 1, TRUE);
      for (JDIMENSION x = 0; x < stored; ++x) {
        for (int i = 0; i < DCTSIZE2; ++i) {
          if (!is_read(i, size)) row[x][i] = 0;
        }
      }
    }
  }
}

// libjpeg writes these two itself.
bool is_written(const jpeg_compress_struct& state, const jpeg_marker_struct& marker) {
  const auto begins = [&marker](std::string_view text) {
    return marker.data_length >= text.size() &&
           std::memcmp(marker.data, text.data(), text.size()) == 0;
  };
  return (state.write_JFIF_header != 0 && marker.marker == JPEG_APP0 && begins("JFIF")) ||
         (state.write_Adobe_marker != 0 && marker.marker == JPEG_APP0 + 14 && begins("Adobe"));
}

enum class Content { kAll, kEighth };

std::vector<std::byte> transcoded(std::span<const std::byte> jpeg, Content content,
                                  const DecodeLimits& limits) {
  Reading in(jpeg, limits.max_scans);
  Writing out;
  if (content == Content::kAll) {
    for (int i = 0; i < 16; ++i) jpeg_save_markers(&in.state, JPEG_APP0 + i, 0xFFFF);
    jpeg_save_markers(&in.state, JPEG_COM, 0xFFFF);
  }
  (void)jpeg_read_header(&in.state, TRUE);
  in.state.mem->max_memory_to_use =
      kWorkingBytes + kCoefficientBytes * long{in.state.image_width} * in.state.image_height;
  const std::vector<int> sizes = block_sizes(in.state, kScale);
  jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&in.state);
  if (content == Content::kEighth) clear_unread(in.state, coefficients, sizes);
  jpeg_copy_critical_parameters(&in.state, &out.state);
  out.state.optimize_coding = TRUE;
  out.state.restart_interval = static_cast<unsigned>(interval_for(columns_of(in.state)));
  jpeg_write_coefficients(&out.state, coefficients);
  for (const jpeg_marker_struct* marker = in.state.marker_list; marker != nullptr;
       marker = marker->next) {
    if (!is_written(out.state, *marker)) {
      jpeg_write_marker(&out.state, marker->marker, marker->data, marker->data_length);
    }
  }
  jpeg_finish_compress(&out.state);
  return std::move(out.bytes);
}

bool same_pixels(std::span<const std::byte> left, std::span<const std::byte> right, int scale,
                 const DecodeLimits& limits) {
  ImageDecoder one(limits), other(limits);
  auto header = one.open(left);
  auto copied = other.open(right);
  if (!header || !copied || header->orientation != copied->orientation) return false;
  const DecodeOptions options{.channels = header->grey ? 1 : 3, .scale = scale};
  auto a = one.decode(options), b = other.decode(options);
  if (!a || !b || a->pixels.shape != b->pixels.shape) return false;
  for (int y = 0; y < a->pixels.shape.height; ++y) {
    if (std::memcmp(a->pixels.row(y), b->pixels.row(y), a->pixels.shape.bytes_per_row()) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::byte>> indexed_jpeg(std::span<const std::byte> jpeg,
                                                   const DecodeLimits& limits) {
  auto header = read_image_header(jpeg, limits);
  if (!header || header->format != ImageFormat::kJpeg) return std::nullopt;
  try {
    std::vector<std::byte> file = transcoded(jpeg, Content::kAll, limits);
    if (!detail::jpeg_layout(file) || !same_pixels(jpeg, file, 1, limits)) return std::nullopt;
    if (std::int64_t{header->width} * header->height < kEighthPixels) return file;
    std::vector<std::byte> with_eighth = file;
    detail::append_eighth(with_eighth, transcoded(jpeg, Content::kEighth, limits));
    return same_pixels(jpeg, with_eighth, kScale, limits) ? with_eighth : file;
  } catch (const NotIndexed&) {
    return std::nullopt;
  }
}

}  // namespace stoker
