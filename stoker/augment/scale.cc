#include "stoker/augment/scale.h"

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

Affine scaling_about_centre(double factor, const ImageShape& shape) {
  const Centre centre = centre_of(shape);
  return scaling(factor, centre.x, centre.y);
}

class Scale final : public GeometricOperation {
 public:
  explicit Scale(Range factor) : factor_(factor) {}
  [[nodiscard]] Affine draw(Rng& rng, const ImageShape& shape) const override {
    return scaling_about_centre(factor_.draw(rng), shape);
  }

 private:
  Range factor_;
};

}  // namespace

Image scale(const ImageView& image, double factor) {
  if (!(factor > 0)) {
    throw Error({.what = "cannot scale an image",
                 .expected = "a factor above 0",
                 .found = fmt::format("{}", factor)});
  }
  return warped(image, scaling_about_centre(factor, image.shape));
}

OperationSchema scale_schema() {
  return {.name = "scale",
          .summary = "enlarges (above 1) or shrinks (below 1) the image about its middle",
          .parameters = range_parameters("factor", 0.01, 100),
          .example = "scale(0.9,1.1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Scale>(Range{a[0], a[1]});
          }};
}

}  // namespace stoker
