#include "stoker/augment/skew.h"

namespace stoker {
namespace {

class Skew final : public GeometricOperation {
 public:
  explicit Skew(Range tilt) : tilt_(tilt) {}
  [[nodiscard]] Affine draw(Rng& rng, const ImageShape&) const override {
    return skewing(tilt_.draw(rng));
  }

 private:
  Range tilt_;
};

}  // namespace

Image skew(const ImageView& image, double tilt) { return warped(image, skewing(tilt)); }

OperationSchema skew_schema() {
  return {.name = "skew",
          .summary = "moves row y by y times the tilt to the left",
          .parameters = range_parameters("tilt in pixels a row", -10, 10),
          .example = "skew(-0.15,0.15)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Skew>(Range{a[0], a[1]});
          },
          .symmetric_range = true};
}

}  // namespace stoker
