#include "stoker/doctor/perceptual_hash.h"

#include <algorithm>
#include <cstddef>

namespace stoker {
namespace {

constexpr std::size_t kSide = 32;         // of the image that is transformed
constexpr std::size_t kFrequencies = 11;  // an axis; the hash takes those with u + v <= 10
constexpr int kBits = 64;

using Grey = std::array<std::uint8_t, kSide * kSide>;
using Spectrum = std::array<std::int64_t, kFrequencies * kFrequencies>;

// round(2^14 cos(pi k / 64)) for the first quarter of the circle.
constexpr std::array<std::int32_t, 33> kCosine = {
    16384, 16364, 16305, 16207, 16069, 15893, 15679, 15426, 15137, 14811, 14449,
    14053, 13623, 13160, 12665, 12140, 11585, 11003, 10394, 9760,  9102,  8423,
    7723,  7005,  6270,  5520,  4756,  3981,  3196,  2404,  1606,  804,   0};

std::int32_t cosine(std::size_t k) {
  k %= 128;
  if (k > 64) k = 128 - k;
  return k <= 32 ? kCosine[k] : -kCosine[64 - k];
}

using CosineRows = std::array<std::array<std::int32_t, kSide>, kFrequencies>;

// cos(pi u (2x + 1) / 64) for frequency u and place x.
const CosineRows& cosine_rows() {
  static const CosineRows rows = [] {
    CosineRows made{};
    for (std::size_t u = 0; u < kFrequencies; ++u) {
      for (std::size_t x = 0; x < kSide; ++x) made[u][x] = cosine(u * (2 * x + 1));
    }
    return made;
  }();
  return rows;
}

// RGB; grey images repeat their value.
using Small = std::array<std::uint8_t, kSide * kSide * 3>;

Small shrunk(const ImageView& image, ResizeScratch& scratch) {
  Image out({.height = kSide, .width = kSide, .channels = image.shape.channels});
  resize(out.view(), image, whole_image(image.shape), {.filter = ResizeFilter::kBox}, scratch);
  Small small;
  const std::size_t repeats = image.shape.channels == 1 ? 3 : 1;
  for (std::size_t i = 0; i < small.size(); ++i) small[i] = out.view().data[i / repeats];
  return small;
}

Grey grey_of(const Small& small) {
  Grey grey;
  for (std::size_t i = 0; i < grey.size(); ++i) {
    const std::uint8_t* at = &small[3 * i];
    grey[i] = static_cast<std::uint8_t>((19595 * at[0] + 38470 * at[1] + 7471 * at[2]) >> 16);
  }
  return grey;
}

// The lowest frequencies, at v * kFrequencies + u. Not normalised: only their order matters.
Spectrum transform(const Grey& grey) {
  const CosineRows& cosines = cosine_rows();
  std::array<std::array<std::int64_t, kFrequencies>, kSide> rows{};
  for (std::size_t y = 0; y < kSide; ++y) {
    for (std::size_t u = 0; u < kFrequencies; ++u) {
      for (std::size_t x = 0; x < kSide; ++x) {
        rows[y][u] += std::int64_t{grey[y * kSide + x]} * cosines[u][x];
      }
    }
  }
  Spectrum spectrum{};
  for (std::size_t v = 0; v < kFrequencies; ++v) {
    for (std::size_t u = 0; u < kFrequencies; ++u) {
      for (std::size_t y = 0; y < kSide; ++y) {
        spectrum[v * kFrequencies + u] += rows[y][u] * cosines[v][y];
      }
    }
  }
  return spectrum;
}

// Places of the spectrum in the order of the diagonals, without the mean.
std::array<std::size_t, kBits> lowest_places() {
  std::array<std::size_t, kBits> places{};
  std::size_t count = 0;
  for (std::size_t diagonal = 1; count < kBits; ++diagonal) {
    for (std::size_t u = 0; u <= diagonal && count < kBits; ++u) {
      places[count++] = (diagonal - u) * kFrequencies + u;
    }
  }
  return places;
}

std::uint64_t hash_of(const Spectrum& spectrum) {
  static const auto places = lowest_places();
  std::array<std::int64_t, kBits> values{};
  for (std::size_t i = 0; i < kBits; ++i) values[i] = spectrum[places[i]];
  auto sorted = values;
  std::nth_element(sorted.begin(), sorted.begin() + kBits / 2, sorted.end());
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < kBits; ++i) {
    hash |= std::uint64_t{values[i] >= sorted[kBits / 2] ? 1U : 0U} << i;
  }
  return hash;
}

// Exchanging left and right turns the sign of every odd frequency along x.
Spectrum mirrored(Spectrum spectrum) {
  for (std::size_t i = 0; i < spectrum.size(); ++i) {
    if (i % kFrequencies % 2 == 1) spectrum[i] = -spectrum[i];
  }
  return spectrum;
}

// Sums over one channel, times the number of pixels, about the mean.
struct Moments {
  std::int64_t aa = 0, bb = 0, ab = 0;
};

constexpr std::int64_t kPixels = std::int64_t{kSketchSide} * kSketchSide;

Moments moments(const ImageSketch& a, const ImageSketch& b, std::size_t channel,
                bool mirror) noexcept {
  std::int64_t sum_a = 0, sum_b = 0;
  Moments sums;
  for (std::size_t i = 0; i < std::size_t{kPixels}; ++i) {
    const std::size_t other = mirror ? i ^ (kSketchSide - 1) : i;
    const std::int64_t va = a.rgb[3 * i + channel];
    const std::int64_t vb = b.rgb[3 * other + channel];
    sum_a += va;
    sum_b += vb;
    sums.aa += va * va;
    sums.bb += vb * vb;
    sums.ab += va * vb;
  }
  return {.aa = kPixels * sums.aa - sum_a * sum_a,
          .bb = kPixels * sums.bb - sum_b * sum_b,
          .ab = kPixels * sums.ab - sum_a * sum_b};
}

bool alike(const ImageSketch& a, const ImageSketch& b, bool mirror) noexcept {
  // Below this variance (2 grey levels squared, of 3 channels) there is nothing but noise to
  // compare.
  constexpr std::int64_t kFlat = 6 * kPixels * kPixels;
  Moments all;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const Moments one = moments(a, b, channel, mirror);
    all.aa += one.aa;
    all.bb += one.bb;
    all.ab += one.ab;
  }
  if (all.aa < kFlat || all.bb < kFlat) return all.aa < kFlat && all.bb < kFlat;
  const auto covariance = static_cast<double>(all.ab);
  return covariance > 0 && covariance * covariance >= kAlikeCorrelation * kAlikeCorrelation *
                                                          static_cast<double>(all.aa) *
                                                          static_cast<double>(all.bb);
}

}  // namespace

ImageSketch sketch_of(const ImageView& image, ResizeScratch& scratch) {
  const Small small = shrunk(image, scratch);
  const Spectrum spectrum = transform(grey_of(small));
  ImageSketch sketch{.hash = hash_of(spectrum), .mirrored_hash = hash_of(mirrored(spectrum))};
  for (std::size_t i = 0; i < sketch.rgb.size(); ++i) {
    const std::size_t y = i / 3 / kSketchSide, x = i / 3 % kSketchSide, channel = i % 3;
    const std::uint8_t* at = &small[(2 * y * kSide + 2 * x) * 3 + channel];
    constexpr std::size_t kRow = kSide * 3;
    sketch.rgb[i] = static_cast<std::uint8_t>((at[0] + at[3] + at[kRow] + at[kRow + 3] + 2) / 4);
  }
  return sketch;
}

bool look_alike(const ImageSketch& a, const ImageSketch& b) noexcept { return alike(a, b, false); }

bool look_mirrored(const ImageSketch& a, const ImageSketch& b) noexcept {
  return alike(a, b, true);
}

}  // namespace stoker
