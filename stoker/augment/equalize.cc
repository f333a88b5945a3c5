#include "stoker/augment/equalize.h"

#include <algorithm>

#include "stoker/augment/detail/tables.h"

namespace stoker {
namespace {

detail::ByteTable equalizing(const detail::Histogram& counts) {
  std::uint64_t pixels = 0, last = 0;
  for (const std::uint64_t count : counts) {
    pixels += count;
    if (count != 0) last = count;
  }
  const std::uint64_t step = (pixels - last) / 255;
  if (step == 0) return detail::make_table([](int v) { return v; });
  std::uint64_t below = step / 2;
  return detail::make_table([&](int v) {
    const std::uint64_t level = std::min<std::uint64_t>(below / step, 255);
    below += counts[v];
    return level;
  });
}

class Equalize final : public PixelOperation {
 public:
  explicit Equalize(double probability) : probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) equalize_in_place(image);
  }

 private:
  double probability_;
};

}  // namespace

Image equalize(const ImageView& image) { return changed(image, equalize_in_place); }

void equalize_in_place(const MutableImageView& image) {
  const auto counts = detail::histograms(image);
  std::array<detail::ByteTable, 3> tables;
  for (int c = 0; c < image.shape.channels; ++c) tables[c] = equalizing(counts[c]);
  detail::map_channels(image, tables);
}

OperationSchema equalize_schema() {
  return {.name = "equalize",
          .summary = "spreads the values of each channel evenly over the scale",
          .parameters = {probability_parameter()},
          .example = "equalize(0.2)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Equalize>(a[0]);
          }};
}

}  // namespace stoker
