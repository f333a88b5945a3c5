#include "stoker/augment/saturation.h"

#include "stoker/kernels/blend/blend.h"

namespace stoker {
namespace {

class Saturation final : public PixelOperation {
 public:
  Saturation(Range factor, double probability) : factor_(factor), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) saturation_in_place(image, factor_.draw(rng));
  }

 private:
  Range factor_;
  double probability_;
};

}  // namespace

Image saturation(const ImageView& image, double factor) {
  return changed(image, [&](const MutableImageView& out) { saturation_in_place(out, factor); });
}

void saturation_in_place(const MutableImageView& image, double factor) {
  check_argument("saturation", "factor", factor, 0, 100);
  if (image.shape.channels == 1) return;
  saturate(image.data, image.shape.bytes() / 3, static_cast<float>(factor));
}

OperationSchema saturation_schema() {
  return {.name = "saturation",
          .summary = "blends the image with its grey version (below 1) or away from it (above 1)",
          .parameters = range_and_probability("factor", 0, 100),
          .example = "saturation(0.6,1.4,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Saturation>(Range{a[0], a[1]}, a[2]);
          }};
}

}  // namespace stoker
