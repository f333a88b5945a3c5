// Files for the tests of the decoders: made here with libjpeg, libpng and libwebp, and cut apart.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <webp/encode.h>

#include "stoker/core/rng.h"
#include "stoker/core/test_files.h"
#include "stoker/image/decode.h"
#include "stoker/image/image.h"
#include "stoker/image/png.h"

namespace stoker::test {

struct JpegKind {
  int channels = 3;  // 1, 3, or 4: CMYK
  int h = 2, v = 2;  // the first component's sampling factors; the others have 1
  bool progressive = false;
  bool arithmetic = false;
  int restart_rows = 0;
};

// Smooth enough to be an image, with detail enough to show a shifted block.
inline std::uint8_t pattern_value(int y, int x, int c) {
  const int wave = (x * (c + 2) + y * 3) % 97 + (x * y / 31) % 61 + ((x ^ y) & 8) * 6;
  return static_cast<std::uint8_t>(wave + 20 * c);
}

inline Image pattern_image(const ImageShape& shape) {
  Image image(shape);
  for (int y = 0; y < shape.height; ++y) {
    for (int x = 0; x < shape.width; ++x) {
      for (int c = 0; c < shape.channels; ++c) {
        image.view().row(y)[x * shape.channels + c] = pattern_value(y, x, c);
      }
    }
  }
  return image;
}

inline void set_kind(jpeg_compress_struct& info, const JpegKind& kind) {
  info.input_components = kind.channels;
  info.in_color_space = kind.channels == 1   ? JCS_GRAYSCALE
                        : kind.channels == 4 ? JCS_CMYK
                                             : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 85, TRUE);
  info.comp_info[0].h_samp_factor = kind.h;
  info.comp_info[0].v_samp_factor = kind.v;
  info.arith_code = kind.arithmetic ? TRUE : FALSE;
  info.restart_in_rows = kind.restart_rows;
  if (kind.progressive) jpeg_simple_progression(&info);
}

// The pattern as a JPEG file.
inline Bytes make_jpeg(int width, int height, const JpegKind& kind) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  set_kind(info, kind);
  jpeg_start_compress(&info, TRUE);
  std::vector<JSAMPLE> row(static_cast<std::size_t>(width * kind.channels));
  for (int y = 0; y < height; ++y) {
    for (int i = 0; i < width * kind.channels; ++i) {
      row[static_cast<std::size_t>(i)] = pattern_value(y, i / kind.channels, i % kind.channels);
    }
    JSAMPROW first = row.data();
    (void)jpeg_write_scanlines(&info, &first, 1);
  }
  jpeg_finish_compress(&info);
  Bytes bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

inline Bytes make_png(const ImageShape& shape) {
  const auto bytes = encode_png(pattern_image(shape).view());
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

// With 4 channels the last is transparency.
inline Bytes make_webp(int width, int height, bool lossless, int channels = 3) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < height; ++y) {
    for (int i = 0; i < width * channels; ++i) {
      pixels.push_back(pattern_value(y, i / channels, i % channels));
    }
  }
  const int row = width * channels;
  std::uint8_t* memory = nullptr;
  const bool alpha = channels == 4;
  const auto without_loss = alpha ? WebPEncodeLosslessRGBA : WebPEncodeLosslessRGB;
  const auto with_loss = alpha ? WebPEncodeRGBA : WebPEncodeRGB;
  const std::size_t size = lossless ? without_loss(pixels.data(), width, height, row, &memory)
                                    : with_loss(pixels.data(), width, height, row, 80, &memory);
  Bytes bytes(memory, memory + size);
  WebPFree(memory);
  return bytes;
}

// Where a JPEG's marker stands for the n-th time; bytes.size() where it does not.
inline std::size_t find_marker(const Bytes& bytes, std::uint8_t marker, int nth = 0) {
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (bytes[i] == 0xFF && bytes[i + 1] == marker && nth-- == 0) return i;
  }
  return bytes.size();
}

// Without each segment that begins with this marker.
inline Bytes without_segments(Bytes bytes, std::uint8_t marker) {
  for (std::size_t at; (at = find_marker(bytes, marker)) < bytes.size();) {
    const auto length = bytes[at + 2] << 8 | bytes[at + 3];
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                bytes.begin() + static_cast<std::ptrdiff_t>(at) + 2 + length);
  }
  return bytes;
}

// All pixels, or none where the file is refused.
inline std::optional<Image> decode_or_none(ImageDecoder& decoder, const Bytes& bytes,
                                           const DecodeOptions& options = {}) {
  if (!decoder.open(as_span(bytes))) return std::nullopt;
  auto image = decoder.decode(options);
  if (!image) return std::nullopt;
  return Image(image->pixels);
}

inline Image decode_all(const Bytes& bytes, const DecodeOptions& options = {}) {
  ImageDecoder decoder;
  (void)decoder.open(as_span(bytes)).value();
  return Image(decoder.decode(options).value().pixels);
}

inline Region random_region(Rng& rng, int width, int height) {
  const int w = 1 + static_cast<int>(rng.uniform_int(static_cast<std::uint32_t>(width)));
  const int h = 1 + static_cast<int>(rng.uniform_int(static_cast<std::uint32_t>(height)));
  return {.left = static_cast<int>(rng.uniform_int(static_cast<std::uint32_t>(width - w + 1))),
          .top = static_cast<int>(rng.uniform_int(static_cast<std::uint32_t>(height - h + 1))),
          .width = w,
          .height = h};
}

inline Image cut(const Image& image, const Region& region) {
  const ImageView whole = image.view();
  ImageShape shape = whole.shape;
  shape.height = region.height;
  shape.width = region.width;
  const auto left = static_cast<std::size_t>(region.left);
  return Image(ImageView{whole.row(region.top) + left * shape.bytes_per_pixel(), shape,
                         whole.bytes_per_row});
}

}  // namespace stoker::test
