// A small sketch of a picture that survives recompression, resizing and changes of brightness: two
// pictures that a person would call the same have sketches that look alike.
//
// The hash is 64 bits of the discrete cosine transform of the grey picture at 32x32: the 64 lowest
// frequencies after the mean, each above or below their median. Integers only, so the same picture
// has the same hash on every machine. It finds candidates; look_alike() compares 16x16 pixels and
// decides. Plain values; functions without state, safe with a scratch for each thread. A sketch
// costs one pass over the pixels and 30 microseconds.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/image.h"
#include "stoker/kernels/resize/resize.h"

namespace stoker {

inline constexpr int kSketchSide = 16;

struct PictureSketch {
  std::uint64_t hash = 0;
  std::uint64_t mirrored_hash = 0;  // of the picture with left and right exchanged
  std::array<std::uint8_t, kSketchSide * kSketchSide * 3> rgb{};  // row by row
  bool operator==(const PictureSketch&) const = default;
};

// Of an image with 1 or 3 channels.
[[nodiscard]] PictureSketch sketch_of(const ImageView& image, ResizeScratch& scratch);

// Whether the pixels agree up to brightness and contrast: the correlation of their colours, each
// channel about its mean, is at least kAlikeCorrelation, or neither has more than noise in it.
// Copies that were resized, recompressed, stamped or brightened lie above 0.995, a crop by 1 % of
// each side at 0.99; different objects of one shape on the same background reach 0.987.
inline constexpr double kAlikeCorrelation = 0.99;
[[nodiscard]] bool look_alike(const PictureSketch& a, const PictureSketch& b) noexcept;
// The same for b with left and right exchanged.
[[nodiscard]] bool look_mirrored(const PictureSketch& a, const PictureSketch& b) noexcept;

}  // namespace stoker
