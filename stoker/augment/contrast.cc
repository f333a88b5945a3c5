#include "stoker/augment/contrast.h"

#include <numeric>

#include "stoker/augment/detail/tables.h"
#include "stoker/kernels/blend/blend.h"

namespace stoker {
namespace {

int mean_luma(const ImageView& image) {
  const std::uint64_t pixels = image.shape.bytes() / image.shape.channels;
  const std::uint64_t sum =
      image.shape.channels == 3
          ? luma_sum(image.data, pixels)
          : std::accumulate(image.data, image.data + pixels, std::uint64_t{0});
  return static_cast<int>((2 * sum + pixels) / (2 * pixels));
}

class Contrast final : public PixelOperation {
 public:
  Contrast(Range factor, double probability) : factor_(factor), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) contrast_in_place(image, factor_.draw(rng));
  }

 private:
  Range factor_;
  double probability_;
};

}  // namespace

Image contrast(const ImageView& image, double factor) {
  return changed(image, [&](const MutableImageView& out) { contrast_in_place(out, factor); });
}

void contrast_in_place(const MutableImageView& image, double factor) {
  check_argument("contrast", "factor", factor, 0, 100);
  const auto f = static_cast<float>(factor);
  const int mean = mean_luma(image);
  detail::map_values(image, detail::make_table([&](int v) { return blend_value(mean, v, f); }));
}

OperationSchema contrast_schema() {
  return {.name = "contrast",
          .summary = "blends the image with its mean grey (below 1) or away from it (above 1)",
          .parameters = range_and_probability("factor", 0, 100),
          .example = "contrast(0.6,1.4,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Contrast>(Range{a[0], a[1]}, a[2]);
          }};
}

}  // namespace stoker
