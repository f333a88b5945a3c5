#include "stoker/augment/rotate.h"

namespace stoker {
namespace {

Affine rotation_about_centre(double degrees, const ImageShape& shape) {
  const Centre centre = centre_of(shape);
  return rotation(degrees, centre.x, centre.y);
}

class Rotate final : public GeometricOperation {
 public:
  explicit Rotate(Range degrees) : degrees_(degrees) {}
  [[nodiscard]] Affine draw(Rng& rng, const ImageShape& shape) const override {
    return rotation_about_centre(degrees_.draw(rng), shape);
  }

 private:
  Range degrees_;
};

}  // namespace

Image rotate(const ImageView& image, double degrees) {
  return warped(image, rotation_about_centre(degrees, image.shape));
}

OperationSchema rotate_schema() {
  return {.name = "rotate",
          .summary = "turns the image about its middle",
          .parameters = range_parameters("angle in degrees, counter-clockwise", -360, 360),
          .example = "rotate(-15,15)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Rotate>(Range{a[0], a[1]});
          },
          .symmetric_range = true};
}

}  // namespace stoker
