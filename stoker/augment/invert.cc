#include "stoker/augment/invert.h"

namespace stoker {
namespace {

class Invert final : public PixelOperation {
 public:
  explicit Invert(double probability) : probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) invert_in_place(image);
  }

 private:
  double probability_;
};

}  // namespace

Image invert(const ImageView& image) { return changed(image, invert_in_place); }

void invert_in_place(const MutableImageView& image) {
  const std::size_t count = image.shape.bytes();
  std::uint8_t* values = image.data;  // a copy: bytes written could be the view's own
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint8_t>(~values[i]);
}

OperationSchema invert_schema() {
  return {.name = "invert",
          .summary = "turns values into their negatives",
          .parameters = {probability_parameter()},
          .example = "invert(0.2)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Invert>(a[0]);
          }};
}

}  // namespace stoker
