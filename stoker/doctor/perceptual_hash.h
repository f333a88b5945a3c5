// A small sketch of an image that survives recompression, resizing and changes of brightness: two
// images that a person would call the same have sketches that look alike.
//
// The hash is 64 bits of the discrete cosine transform of the grey image at 32x32: the 64 lowest
// frequencies after the mean, each above or below their median. Integers only, so the same image
// has the same hash on every machine. It finds candidates; look_alike() compares 16x16 pixels and
// decides. Plain values; functions without state, safe with a scratch for each thread. A sketch
// costs one pass over the pixels and 30 microseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/image/image.h"
#include "stoker/kernels/resize/resize.h"

namespace stoker {

inline constexpr int kSketchSide = 16;

struct ImageSketch {
  std::uint64_t hash = 0;
  std::uint64_t mirrored_hash = 0;  // of the image with left and right exchanged
  std::array<std::uint8_t, std::size_t{3} * kSketchSide * kSketchSide> rgb{};  // row by row
  bool operator==(const ImageSketch&) const = default;
};

// Of an image with 1 or 3 channels.
[[nodiscard]] ImageSketch sketch_of(const ImageView& image, ResizeScratch& scratch);

// Whether the pixels agree up to brightness and contrast: the correlation of their colours, each
// channel about its mean, is at least kAlikeCorrelation, or neither has more than noise in it.
// Copies that were resized, recompressed, stamped or brightened lie above 0.995, a crop by 1 % of
// each side at 0.99; different objects of one shape on the same background reach 0.987.
inline constexpr double kAlikeCorrelation = 0.99;
[[nodiscard]] bool look_alike(const ImageSketch& a, const ImageSketch& b) noexcept;
// The same for b with left and right exchanged.
[[nodiscard]] bool look_mirrored(const ImageSketch& a, const ImageSketch& b) noexcept;

}  // namespace stoker
