#include "stoker/augment/flip.h"

namespace stoker {
namespace {

Affine horizontal_flip(const ImageShape& shape) { return {.xx = -1, .x0 = shape.width - 1.0}; }
Affine vertical_flip(const ImageShape& shape) { return {.yy = -1, .y0 = shape.height - 1.0}; }

template <Affine (*kMap)(const ImageShape&)>
class Flip final : public GeometricOperation {
 public:
  explicit Flip(double probability) : probability_(probability) {}
  [[nodiscard]] Affine draw(Rng& rng, const ImageShape& shape) const override {
    return rng.bernoulli(probability_) ? kMap(shape) : Affine{};
  }

 private:
  double probability_;
};

}  // namespace

Image flip_horizontally(const ImageView& image) {
  return warped(image, horizontal_flip(image.shape));
}

Image flip_vertically(const ImageView& image) { return warped(image, vertical_flip(image.shape)); }

OperationSchema hflip_schema() {
  return {.name = "hflip",
          .summary = "mirrors the image, left to right",
          .parameters = {probability_parameter(0.5)},
          .example = "hflip(0.5)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Flip<horizontal_flip>>(a[0]);
          }};
}

OperationSchema vflip_schema() {
  return {.name = "vflip",
          .summary = "mirrors the image, top to bottom",
          .parameters = {probability_parameter(0.5)},
          .example = "vflip(0.5)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Flip<vertical_flip>>(a[0]);
          }};
}

}  // namespace stoker
