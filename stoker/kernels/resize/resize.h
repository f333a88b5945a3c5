/// \file
/// Resizing as Pillow does it: out shows the part `box` of `in`, bit for bit what Pillow's
/// Image.resize(size, filter, box) gives for modes L and RGB on x86-64.
///
/// Shapes: any sizes, the same number of channels in both; the views do not overlap. Wide images
/// take plain loops with the same formula; of 16 bits, values between the passes have 16 bits and
/// pixels are limited to 0..65535.
/// Arithmetic, the same in every version. Along an axis of `in` pixels, from box edge b0 to b1
/// (both rounded to float) to `out` pixels, in double, each operation rounded by itself:
///   scale = (b1 - b0) / out        (the difference in float)
///   stretch = max(scale, 1), or 1 without antialiasing;   s = support of the filter * stretch
///   centre = b0 + (x + 0.5) scale;   taps i from trunc(centre - s + 0.5) on, below
///   trunc(centre + s + 0.5), those within the image;   w(i) = filter((i - centre + 0.5) / stretch)
/// and the weights w(i) / sum, times 2^22, rounded half away from zero, are whole numbers. A pixel
/// is (2^21 + sum of weight times value) >> 22, limited to 0..255. One axis after the other, with
/// 8-bit values in between. An axis whose box is whole and as long as the output keeps its values.
/// Nearest takes the pixel under the centre, which it finds by adding `scale` again and again.
/// Cost: memory for the weights (below 10 (in + out) numbers an axis) and for the rows between the
/// passes, kept in the scratch. Thread-safe as long as each thread has its own scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/export.h"
#include "stoker/image/image.h"

namespace stoker {

/// Supports: box 0.5, bilinear (a triangle) 1, bicubic (a = -0.5) 2, Lanczos 3 pixels.
enum class ResizeFilter { kNearest, kBox, kBilinear, kBicubic, kLanczos };

/// Off: the filter is never wider than its support in input pixels, so shrinking skips pixels.
/// Bilinear is then what other libraries call INTER_LINEAR or align_corners=False: two taps an
/// axis, pixel centres at halves, borders repeated.
enum class Antialias { kOn, kOff };

/// Which axis comes first; results differ by a grey level here and there. Pillow before 13, with
/// which published weights were trained, takes x (12.3 not for images more than 100 times as
/// tall as wide). Pillow 13 takes y where in.height - out.height is more than 0 and than
/// 2 (in.width - out.width), whatever the box: cropping first is then not the same as a box.
enum class ResizeOrder { kPillow13, kXFirst };

/// Edges in pixels of the input, from its upper left corner; rounded to float, as Pillow does.
struct ResizeBox {
  double left, top, right, bottom;
};
/// The box of all of an image.
[[nodiscard]] inline ResizeBox whole_image(const ImageShape& shape) noexcept {
  return {0, 0, static_cast<double>(shape.width), static_cast<double>(shape.height)};
}

/// How an image is resized.
struct ResizeOptions {
  ResizeFilter filter = ResizeFilter::kBilinear;
  Antialias antialias = Antialias::kOn;
  ResizeOrder order = ResizeOrder::kPillow13;
  bool mirror = false;  ///< left and right exchanged in the result, at no cost
};

/// The weights of one axis: output x takes `weights[x * stride + i]` of pixel first[x] + i.
struct ResizeAxis {
  int taps = 0;    ///< the most that any output has
  int stride = 0;  ///< taps, rounded up; what an output does not need is zero
  std::vector<std::int32_t> first, count, weights;
  std::vector<double> row;  ///< one output's weights before rounding
};

/// Memory of one thread, kept from image to image.
struct ResizeScratch {
  ResizeAxis x, y;
  std::vector<std::uint8_t> tables;   ///< weights along x as the chosen version wants them
  std::vector<std::int32_t> offsets;  ///< where in a row it reads
  std::vector<std::uint8_t> between;  ///< rows between the passes
  std::vector<std::uint8_t> copies;   ///< input rows that are to be read beyond their end
};

/// Throws Error for a box that reaches beyond the input or has negative sides.
STOKER_API void resize(const MutableImageView& out, const ImageView& in, const ResizeBox& box,
                       const ResizeOptions& options, ResizeScratch& scratch);

/// The slow obvious version, for comparison.
STOKER_API void resize_reference(const MutableImageView& out, const ImageView& in,
                                 const ResizeBox& box, const ResizeOptions& options);

}  // namespace stoker
