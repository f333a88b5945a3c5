#include "stoker/augment/autocontrast.h"

#include <algorithm>

#include "stoker/augment/detail/tables.h"

namespace stoker {
namespace {

struct Extremes {
  std::array<std::uint8_t, 3> smallest = {255, 255, 255}, largest = {0, 0, 0};
};

constexpr std::size_t kRun = 48;  // a whole number of vectors and of colours
using Run = std::array<std::uint8_t, kRun>;

// Values side by side, so that the compiler can take them as vectors. `low` and `high` are copies
// for the same reason: as far as it knows, references could overlap the values.
void widen(Run& low_out, Run& high_out, const std::uint8_t* values, std::size_t runs) {
  Run low = low_out, high = high_out;
  for (std::size_t run = 0; run < runs; ++run, values += kRun) {
    for (std::size_t k = 0; k < kRun; ++k) low[k] = values[k] < low[k] ? values[k] : low[k];
    for (std::size_t k = 0; k < kRun; ++k) high[k] = values[k] > high[k] ? values[k] : high[k];
  }
  low_out = low;
  high_out = high;
}

// `image` has no gaps.
Extremes extremes(const ImageView& image) {
  Run low, high{};
  low.fill(255);
  const std::size_t count = image.shape.bytes(), runs = count / kRun;
  widen(low, high, image.data, runs);
  for (std::size_t i = runs * kRun; i < count; ++i) {
    low[i % kRun] = std::min(low[i % kRun], image.data[i]);
    high[i % kRun] = std::max(high[i % kRun], image.data[i]);
  }
  Extremes result;
  for (std::size_t k = 0; k < kRun; ++k) {
    const std::size_t channel = image.shape.channels == 3 ? k % 3 : 0;
    result.smallest[channel] = std::min(result.smallest[channel], low[k]);
    result.largest[channel] = std::max(result.largest[channel], high[k]);
  }
  return result;
}

detail::ByteTable stretching(int smallest, int largest) {
  if (largest <= smallest) return detail::make_table([](int v) { return v; });
  const double scale = 255.0 / (largest - smallest), offset = -smallest * scale;
  return detail::make_table(
      [&](int v) { return std::clamp(static_cast<int>(v * scale + offset), 0, 255); });
}

class Autocontrast final : public PixelOperation {
 public:
  explicit Autocontrast(double probability) : probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) autocontrast_in_place(image);
  }

 private:
  double probability_;
};

}  // namespace

Image autocontrast(const ImageView& image) { return changed(image, autocontrast_in_place); }

void autocontrast_in_place(const MutableImageView& image) {
  const Extremes found = extremes(image);
  std::array<detail::ByteTable, 3> tables;
  for (int c = 0; c < image.shape.channels; ++c) {
    tables[c] = stretching(found.smallest[c], found.largest[c]);
  }
  detail::map_channels(image, tables);
}

OperationSchema autocontrast_schema() {
  return {.name = "autocontrast",
          .summary = "stretches each channel to the whole scale",
          .parameters = {probability_parameter()},
          .example = "autocontrast(0.2)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Autocontrast>(a[0]);
          }};
}

}  // namespace stoker
