#include "stoker/augment/translate.h"

#include <cmath>

namespace stoker {
namespace {

// translation() counts to the left and up.
Affine to_the_right(double share, const ImageShape& shape) {
  return translation(-std::trunc(share * shape.width), 0);
}
Affine downwards(double share, const ImageShape& shape) {
  return translation(0, -std::trunc(share * shape.height));
}

template <Affine (*kMap)(double, const ImageShape&)>
class Translate final : public GeometricOperation {
 public:
  Translate(Range share, double probability) : share_(share), probability_(probability) {}
  [[nodiscard]] Affine draw(Rng& rng, const ImageShape& shape) const override {
    return rng.bernoulli(probability_) ? kMap(share_.draw(rng), shape) : Affine{};
  }

 private:
  Range share_;
  double probability_;
};

}  // namespace

Image translate_x(const ImageView& image, double share) {
  check_argument("translate_x", "share", share, -1, 1);
  return warped(image, to_the_right(share, image.shape));
}

Image translate_y(const ImageView& image, double share) {
  check_argument("translate_y", "share", share, -1, 1);
  return warped(image, downwards(share, image.shape));
}

OperationSchema translate_x_schema() {
  return {.name = "translate_x",
          .summary = "moves the image to the right by whole pixels; black fills",
          .parameters = range_and_probability("distance as a fraction of the width", -1, 1),
          .example = "translate_x(-0.1,0.1,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Translate<to_the_right>>(Range{a[0], a[1]}, a[2]);
          },
          .symmetric_range = true};
}

OperationSchema translate_y_schema() {
  return {.name = "translate_y",
          .summary = "moves the image down by whole pixels; black fills",
          .parameters = range_and_probability("distance as a fraction of the height", -1, 1),
          .example = "translate_y(-0.1,0.1,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Translate<downwards>>(Range{a[0], a[1]}, a[2]);
          },
          .symmetric_range = true};
}

}  // namespace stoker
