/// \file
/// Images of 8-bit samples, one (grey) or three (RGB) interleaved channels, rows from the top.
/// Wide images have values of 16 bits, in the CPU's byte order, or four channels (RGBA), or both;
/// only the plain versions of some kernels take them.
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
  int depth = 8;  ///< bits of a value: 8 or 16

  /// More than 8 bits or three channels.
  [[nodiscard]] bool wide() const noexcept { return depth != 8 || channels > 3; }
  /// 1 or 2.
  [[nodiscard]] std::size_t bytes_per_value() const noexcept {
    return static_cast<std::size_t>(depth) / 8;
  }
  /// Of all its channels.
  [[nodiscard]] std::size_t bytes_per_pixel() const noexcept {
    return static_cast<std::size_t>(channels) * bytes_per_value();
  }
  /// Numbers of a row, whatever their depth.
  [[nodiscard]] std::size_t values_per_row() const noexcept {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  }
  /// Numbers of the image, whatever their depth.
  [[nodiscard]] std::size_t values() const noexcept {
    return values_per_row() * static_cast<std::size_t>(height);
  }
  [[nodiscard]] std::size_t bytes_per_row() const noexcept {
    return values_per_row() * bytes_per_value();
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_per_row() * static_cast<std::size_t>(height);
  }
  bool operator==(const ImageShape&) const = default;
};

/// The longest side that an image may have.
inline constexpr int kMaxSide = 1 << 20;
/// The most channels that an image may have.
inline constexpr int kMaxChannels = 4;
/// Throws Error unless each side lies in [1, kMaxSide] and there are 1, 3 or 4 channels of 8 or 16
/// bits.
STOKER_API void check_shape(const ImageShape& shape);
/// Throws Error, "`what` works on 8-bit images …", for a wide shape.
STOKER_API void refuse_wide(const ImageShape& shape, const char* what);

/// Pixels that somebody else owns, to read.
struct ImageView {
  const std::uint8_t* data = nullptr;
  ImageShape shape;
  std::size_t bytes_per_row = 0;

  [[nodiscard]] const std::uint8_t* row(int y) const noexcept {
    return data + static_cast<std::size_t>(y) * bytes_per_row;
  }
  /// Of an image of 8 bits.
  [[nodiscard]] std::uint8_t at(int y, int x, int channel = 0) const noexcept {
    return row(y)[x * shape.channels + channel];
  }
  /// The values of a row, of the type that the depth says.
  template <class Value>
  [[nodiscard]] const Value* values(int y) const noexcept {
    return reinterpret_cast<const Value*>(row(y));
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
  /// The values of a row, of the type that the depth says.
  template <class Value>
  [[nodiscard]] Value* values(int y) const noexcept {
    return reinterpret_cast<Value*>(row(y));
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

/// The image to look at: 8 bits (the high bytes), 1 or 3 channels, transparency over white.
[[nodiscard]] STOKER_API Image narrowed(const ImageView& image);

/// Calls `run` with a value of the type of the image's values: std::uint8_t or std::uint16_t.
template <class Run>
decltype(auto) with_value_type(const ImageShape& shape, Run&& run) {
  return shape.depth == 8 ? run(std::uint8_t{}) : run(std::uint16_t{});
}

}  // namespace stoker
