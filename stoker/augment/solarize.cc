#include "stoker/augment/solarize.h"

#include "stoker/augment/detail/tables.h"

namespace stoker {
namespace {

class Solarize final : public PixelOperation {
 public:
  Solarize(double threshold, double probability)
      : threshold_(threshold), probability_(probability) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) solarize_in_place(image, threshold_);
  }

 private:
  double threshold_, probability_;
};

}  // namespace

Image solarize(const ImageView& image, double threshold) {
  return changed(image, [&](const MutableImageView& out) { solarize_in_place(out, threshold); });
}

void solarize_in_place(const MutableImageView& image, double threshold) {
  check_argument("solarize", "threshold", threshold, 0, 256);
  detail::map_values(
      image, detail::make_table([threshold](int v) { return v < threshold ? v : 255 - v; }));
}

OperationSchema solarize_schema() {
  return {.name = "solarize",
          .summary = "inverts values from the threshold on",
          .parameters = {{.name = "threshold",
                          .meaning = "smallest value that is inverted",
                          .minimum = 0,
                          .maximum = 256,
                          .default_value = 128},
                         probability_parameter()},
          .example = "solarize(128,0.2)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Solarize>(a[0], a[1]);
          }};
}

}  // namespace stoker
