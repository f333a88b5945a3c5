#include "stoker/augment/greyscale.h"

#include "stoker/augment/saturation.h"

namespace stoker {
namespace {

class Greyscale final : public PixelOperation {
 public:
  explicit Greyscale(double probability) : probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) greyscale_in_place(image);
  }

 private:
  double probability_;
};

}  // namespace

Image greyscale(const ImageView& image) { return changed(image, greyscale_in_place); }

// No saturation at all: the blend is then the luma itself.
void greyscale_in_place(const MutableImageView& image) { saturation_in_place(image, 0); }

OperationSchema greyscale_schema() {
  return {.name = "greyscale",
          .summary = "makes colours grey, in three equal channels",
          .parameters = {probability_parameter(0.1)},
          .example = "greyscale(0.1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Greyscale>(a[0]);
          }};
}

}  // namespace stoker
