#include "stoker/augment/hue.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace stoker {
namespace {

// The formulas, with r' = (max - r) / (max - min) and g', b' alike:
//   s = 255 (max - min) / max,  v = max
//   h = 255 / 6 * (b' - g', or 2 + r' - b' where green is the largest, or 4 + g' - r' for blue),
// modulo 255, fractions dropped. One of the two quotients belongs to the smallest channel and is 1,
// so h depends on which channels are the largest and the smallest, on max - min and max - middle:
// a table. Pillow mixes floats and doubles; each step here is rounded as there.
struct ToHsv {
  // [largest channel][smallest is the second of the other two][max - min][max - middle]
  std::uint8_t hue[3][2][256][256];
  std::uint8_t saturation[256][256];  // [max][max - min]
};

std::uint8_t hue_byte(int largest, float first, float second) {
  // `first` is added, `second` taken away. Red is computed in floats, the others in doubles.
  const float sixths = largest == 0
                           ? first - second
                           : static_cast<float>(2.0 * largest + static_cast<double>(first) -
                                                static_cast<double>(second));
  const double turned = static_cast<double>(sixths) / 6.0 + 1.0;
  const auto circle = static_cast<float>(turned - std::floor(turned));
  return static_cast<std::uint8_t>(
      std::min(static_cast<int>(static_cast<double>(circle) * 255.0), 255));
}

std::unique_ptr<const ToHsv> make_to_hsv() {
  auto tables = std::make_unique<ToHsv>();
  for (int range = 1; range < 256; ++range) {
    for (int middle = 0; middle <= range; ++middle) {
      const float quotient = static_cast<float>(middle) / static_cast<float>(range);
      for (int largest = 0; largest < 3; ++largest) {
        // After red come green and blue, after green blue and red: the first is taken away.
        tables->hue[largest][0][range][middle] = hue_byte(largest, quotient, 1);
        tables->hue[largest][1][range][middle] = hue_byte(largest, 1, quotient);
      }
    }
    for (int max = range; max < 256; ++max) {
      const float s = static_cast<float>(range) / static_cast<float>(max);
      tables->saturation[max][range] = static_cast<std::uint8_t>(static_cast<double>(s) * 255.0);
    }
  }
  return tables;
}

const ToHsv& to_hsv() {
  static const std::unique_ptr<const ToHsv> tables = make_to_hsv();
  return *tables;
}

struct Hsv {
  std::uint8_t h, s, v;
};

Hsv hsv_of(const ToHsv& tables, int r, int g, int b) {
  const int max = std::max({r, g, b}), min = std::min({r, g, b}), range = max - min;
  if (range == 0) return {.h = 0, .s = 0, .v = static_cast<std::uint8_t>(max)};
  const int largest = r == max ? 0 : g == max ? 1 : 2;
  // The channel after the largest one; where it is not the smallest, the other is.
  const int next = largest == 0 ? g : largest == 1 ? b : r;
  const int second_is_smallest = next == min ? 0 : 1;
  const int middle = max - (r + g + b - max - min);
  return {.h = tables.hue[largest][second_is_smallest][range][middle],
          .s = tables.saturation[max][range],
          .v = static_cast<std::uint8_t>(max)};
}

int rounded(double value) { return static_cast<int>(std::floor(value + 0.5)); }

// The way back: with sector i and rest f of 6 h / 255, and s as a share,
//   p = v (1 - s), q = v (1 - s f), t = v (1 - s (1 - f)), each rounded.
void write_rgb(std::uint8_t* out, const Hsv& hsv, int sector, float rest, float share) {
  const auto v = static_cast<double>(hsv.v);
  const double scaled = sector % 2 == 1
                            ? static_cast<double>(share * rest)
                            : static_cast<double>(share) * (1.0 - static_cast<double>(rest));
  const auto p = static_cast<std::uint8_t>(rounded(v * (1.0 - static_cast<double>(share))));
  const auto between = static_cast<std::uint8_t>(rounded(v * (1.0 - scaled)));  // q or t
  // Which of v, between and p each channel shows, for each of six sectors; sector 6 is 0 again.
  static constexpr std::uint8_t kOrder[6][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1},
                                                {2, 1, 0}, {1, 2, 0}, {0, 2, 1}};
  const std::uint8_t values[3] = {hsv.v, between, p};
  for (int c = 0; c < 3; ++c) out[c] = values[kOrder[sector][c]];
}

// What one hue means after it is turned.
struct Turned {
  int sector;
  float rest;
};
std::array<Turned, 256> turned_hues(std::uint8_t turn) {
  std::array<Turned, 256> hues{};
  for (int h = 0; h < 256; ++h) {
    const double sixths = static_cast<std::uint8_t>(h + turn) * 6.0 / 255.0;
    const double sector = std::floor(sixths);
    hues[h] = {.sector = static_cast<int>(sector) % 6, .rest = static_cast<float>(sixths - sector)};
  }
  return hues;
}

class Hue final : public PixelOperation {
 public:
  Hue(Range shift, double probability) : shift_(shift), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) hue_in_place(image, shift_.draw(rng));
  }

 private:
  Range shift_;
  double probability_;
};

}  // namespace

Image hue(const ImageView& image, double shift) {
  return changed(image, [&](const MutableImageView& out) { hue_in_place(out, shift); });
}

void hue_in_place(const MutableImageView& image, double shift) {
  check_argument("hue", "shift", shift, -0.5, 0.5);
  if (image.shape.channels == 1) return;
  const ToHsv& tables = to_hsv();
  const auto hues = turned_hues(static_cast<std::uint8_t>(static_cast<int>(shift * 255)));
  std::array<float, 256> shares{};
  for (int s = 0; s < 256; ++s) shares[s] = static_cast<float>(static_cast<double>(s) / 255.0);
  std::uint8_t* const end = image.data + image.shape.bytes();
  for (std::uint8_t* pixel = image.data; pixel != end; pixel += 3) {
    const Hsv hsv = hsv_of(tables, pixel[0], pixel[1], pixel[2]);
    if (hsv.s == 0) {
      std::fill_n(pixel, 3, hsv.v);
      continue;
    }
    write_rgb(pixel, hsv, hues[hsv.h].sector, hues[hsv.h].rest, shares[hsv.s]);
  }
}

OperationSchema hue_schema() {
  return {.name = "hue",
          .summary = "turns colours around the colour circle",
          .parameters = range_and_probability("turn as a fraction of the circle", -0.5, 0.5),
          .example = "hue(-0.1,0.1,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Hue>(Range{a[0], a[1]}, a[2]);
          },
          .symmetric_range = true};
}

}  // namespace stoker
