#include "stoker/augment/noise.h"

#include "stoker/kernels/noise/noise.h"

namespace stoker {
namespace {

class Noise final : public PixelOperation {
 public:
  explicit Noise(double max_noise)
      : amplitude_(noise_amplitude(max_noise)), wide_amplitude_(wide_noise_amplitude(max_noise)) {}
  void apply(const MutableImageView& image, Rng&, const RngStream& per_value,
             AugmentScratch&) const override {
    if (image.shape.depth == 16) {
      add_wide_noise(image.values<std::uint16_t>(0), image.shape.values(), wide_amplitude_,
                     per_value);
      return;
    }
    stoker::add_noise(image.data, image.shape.bytes(), amplitude_, per_value);
  }
  [[nodiscard]] bool takes_wide() const override { return true; }

 private:
  std::uint16_t amplitude_, wide_amplitude_;
};

}  // namespace

Image add_noise(const ImageView& image, double max_noise, const RngStream& stream) {
  refuse_wide(image.shape, "add_noise");
  Image out(image);
  add_noise(out.view().data, out.shape().bytes(), noise_amplitude(max_noise), stream);
  return out;
}

OperationSchema noise_schema() {
  return {.name = "noise",
          .summary = "adds to each value its own uniform number and keeps it legal",
          .parameters = {{.name = "max",
                          .meaning = "largest noise as a fraction of the full scale",
                          .minimum = 0,
                          .maximum = 1}},
          .example = "noise(0.1)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<Noise>(a[0]);
          }};
}

}  // namespace stoker
