#include "stoker/augment/shear.h"

namespace stoker {
namespace {

template <Affine (*kMap)(double) noexcept>
class Shear final : public GeometricOperation {
 public:
  Shear(Range amount, double probability) : amount_(amount), probability_(probability) {}
  [[nodiscard]] Affine draw(Rng& rng, const ImageShape&) const override {
    return rng.bernoulli(probability_) ? kMap(amount_.draw(rng)) : Affine{};
  }

 private:
  Range amount_;
  double probability_;
};

}  // namespace

Image shear_x(const ImageView& image, double amount) { return warped(image, shearing_x(amount)); }

Image shear_y(const ImageView& image, double amount) { return warped(image, shearing_y(amount)); }

OperationSchema shear_x_schema() {
  return {
      .name = "shear_x",
      .summary = "moves each row further to the left than the one above, by the upper left corner",
      .parameters = range_and_probability("distance in pixels a row", -10, 10),
      .example = "shear_x(-0.3,0.3,1)",
      .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
        return std::make_unique<Shear<shearing_x>>(Range{a[0], a[1]}, a[2]);
      },
      .symmetric_range = true};
}

OperationSchema shear_y_schema() {
  return {.name = "shear_y",
          .summary = "moves each column further up than the one before, by the upper left corner",
          .parameters = range_and_probability("distance in pixels a column", -10, 10),
          .example = "shear_y(-0.3,0.3,1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Shear<shearing_y>>(Range{a[0], a[1]}, a[2]);
          },
          .symmetric_range = true};
}

}  // namespace stoker
