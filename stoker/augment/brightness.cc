#include "stoker/augment/brightness.h"

#include "stoker/augment/detail/tables.h"
#include "stoker/kernels/blend/blend.h"

namespace stoker {
namespace {

class Brightness final : public PixelOperation {
 public:
  Brightness(Range factor, double probability) : factor_(factor), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) brightness_in_place(image, factor_.draw(rng));
  }

 private:
  Range factor_;
  double probability_;
};

}  // namespace

Image brightness(const ImageView& image, double factor) {
  return changed(image, [&](const MutableImageView& out) { brightness_in_place(out, factor); });
}

void brightness_in_place(const MutableImageView& image, double factor) {
  check_argument("brightness", "factor", factor, 0, 100);
  const auto f = static_cast<float>(factor);
  detail::map_values(image, detail::make_table([f](int v) { return blend_value(0, v, f); }));
}

OperationSchema brightness_schema() {
  return {.name = "brightness",
          .summary = "blends the image with black (below 1) or away from it (above 1)",
          .parameters = range_and_probability("factor", 0, 100),
          .example = "brightness(0.6,1.4,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Brightness>(Range{a[0], a[1]}, a[2]);
          }};
}

}  // namespace stoker
