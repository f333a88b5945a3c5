#include "stoker/augment/colour_jitter.h"

#include <algorithm>
#include <utility>

#include "stoker/augment/brightness.h"
#include "stoker/augment/contrast.h"
#include "stoker/augment/hue.h"
#include "stoker/augment/saturation.h"

namespace stoker {
namespace {

// A change that changes nothing is omitted; of the hue's that also saves the loss by HSV.
void change_colours(const MutableImageView& image, const ColourChange& change) {
  for (const std::uint8_t which : change.order) {
    if (which == 0 && change.brightness != 1) brightness_in_place(image, change.brightness);
    if (which == 1 && change.contrast != 1) contrast_in_place(image, change.contrast);
    if (which == 2 && change.saturation != 1) saturation_in_place(image, change.saturation);
    if (which == 3 && change.hue != 0) hue_in_place(image, change.hue);
  }
}

class ColourJitter final : public PixelOperation {
 public:
  // One number x means the factors from max(0, 1 - x) to 1 + x, of the hue the turns from -x to x.
  explicit ColourJitter(std::span<const double> a)
      : brightness_(around_one(a[0])),
        contrast_(around_one(a[1])),
        saturation_(around_one(a[2])),
        hue_{-a[3], a[3]},
        probability_(a[4]) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch&) const override {
    if (rng.bernoulli(probability_)) change_colours(image, draw(rng));
  }

 private:
  static Range around_one(double reach) { return {std::max(0.0, 1 - reach), 1 + reach}; }

  [[nodiscard]] ColourChange draw(Rng& rng) const {
    ColourChange change;
    for (std::uint32_t left = 4; left > 1; --left) {
      std::swap(change.order[left - 1], change.order[rng.uniform_int(left)]);
    }
    change.brightness = brightness_.draw(rng);
    change.contrast = contrast_.draw(rng);
    change.saturation = saturation_.draw(rng);
    change.hue = hue_.draw(rng);
    return change;
  }

  Range brightness_, contrast_, saturation_, hue_;
  double probability_;
};

ParameterSchema reach(const char* name, const char* meaning, double maximum) {
  return {.name = name, .meaning = meaning, .minimum = 0, .maximum = maximum, .default_value = 0};
}

}  // namespace

Image colour_jitter(const ImageView& image, const ColourChange& change) {
  return changed(image, [&](const MutableImageView& out) { change_colours(out, change); });
}

OperationSchema colour_jitter_schema() {
  return {.name = "colour_jitter",
          .summary = "changes brightness, contrast, saturation and hue, in random order",
          .parameters = {reach("brightness", "x means a factor from max(0, 1 - x) to 1 + x", 10),
                         reach("contrast", "the same of the contrast", 10),
                         reach("saturation", "the same of the saturation", 10),
                         reach("hue", "largest turn as a fraction of the colour circle", 0.5),
                         probability_parameter()},
          .example = "colour_jitter(0.4,0.4,0.4,0.1,0.8)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<ColourJitter>(a);
          }};
}

}  // namespace stoker
