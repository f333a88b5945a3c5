/// \file
/// Images of 8-bit samples, one (grey) or three (RGB) interleaved channels, rows from the top.
/// ImageView and MutableImageView look at memory owned elsewhere; Image owns its own, without gaps
/// between rows. Plain values: copying a view copies no pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/export.h"

namespace stoker {

/// Height, width, channels: the order in which pixels lie in memory.
struct ImageShape {
  int height = 0;
  int width = 0;
  int channels = 1;

  [[nodiscard]] std::size_t bytes_per_row() const noexcept {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_per_row() * static_cast<std::size_t>(height);
  }
  bool operator==(const ImageShape&) const = default;
};

/// The longest side that an image may have.
inline constexpr int kMaxSide = 1 << 20;
/// Throws Error unless each side lies in [1, kMaxSide] and there are 1 or 3 channels.
STOKER_API void check_shape(const ImageShape& shape);

/// Pixels that somebody else owns, to read.
struct ImageView {
  const std::uint8_t* data = nullptr;
  ImageShape shape;
  std::size_t bytes_per_row = 0;

  [[nodiscard]] const std::uint8_t* row(int y) const noexcept {
    return data + static_cast<std::size_t>(y) * bytes_per_row;
  }
  [[nodiscard]] std::uint8_t at(int y, int x, int channel = 0) const noexcept {
    return row(y)[x * shape.channels + channel];
  }
  /// No gap between rows: all pixels are one run of shape.bytes().
  [[nodiscard]] bool contiguous() const noexcept { return bytes_per_row == shape.bytes_per_row(); }
};

/// Pixels that somebody else owns, to write.
struct MutableImageView {
  std::uint8_t* data = nullptr;
  ImageShape shape;
  std::size_t bytes_per_row = 0;

  [[nodiscard]] std::uint8_t* row(int y) const noexcept {
    return data + static_cast<std::size_t>(y) * bytes_per_row;
  }
  operator ImageView() const noexcept { return {data, shape, bytes_per_row}; }  // NOLINT: as span
};

/// Pixels of its own.
class Image {
 public:
  Image() = default;
  STOKER_API explicit Image(const ImageShape& shape);  ///< black
  STOKER_API explicit Image(const ImageView& view);    ///< a copy

  /// Changes the shape; pixels are then unspecified. Keeps its memory where that suffices.
  STOKER_API void reshape(const ImageShape& shape);

  [[nodiscard]] const ImageShape& shape() const noexcept { return shape_; }
  [[nodiscard]] ImageView view() const noexcept {
    return {pixels_.data(), shape_, shape_.bytes_per_row()};
  }
  [[nodiscard]] MutableImageView view() noexcept {
    return {pixels_.data(), shape_, shape_.bytes_per_row()};
  }
  [[nodiscard]] std::uint8_t at(int y, int x, int channel = 0) const noexcept {
    return view().at(y, x, channel);
  }
  bool operator==(const Image&) const = default;

 private:
  ImageShape shape_;
  std::vector<std::uint8_t> pixels_;  ///< exactly shape_.bytes()
};

/// Copies pixels between views of the same shape that do not overlap.
STOKER_API void copy_pixels(const MutableImageView& out, const ImageView& in);

}  // namespace stoker
