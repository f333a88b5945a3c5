#include "stoker/augment/randaugment.h"

#include <algorithm>

#include "stoker/augment/detail/choices.h"
#include "stoker/core/distributions.h"

namespace stoker {
namespace {

class RandAugment final : public PixelOperation {
 public:
  RandAugment(int changes, double magnitude, double deviation)
      : changes_(changes), magnitude_(magnitude), deviation_(deviation) {}
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch& scratch) const override {
    const auto level = [this](Rng& r) { return draw_magnitude(r) / kMaxMagnitude; };
    for (int i = 0; i < changes_; ++i) {
      apply_change(image, detail::choose(rng, detail::randaugment_choices(), level), scratch);
    }
  }

 private:
  [[nodiscard]] double draw_magnitude(Rng& rng) const {
    if (deviation_ == 0) return magnitude_;
    return std::clamp<double>(magnitude_ + deviation_ * draw_normal(rng), 0, kMaxMagnitude);
  }

  int changes_;
  double magnitude_, deviation_;
};

class TrivialAugment final : public PixelOperation {
 public:
  void apply(const MutableImageView& image, Rng& rng, const RngStream&,
             AugmentScratch& scratch) const override {
    const auto level = [](Rng& r) {
      return static_cast<double>(r.uniform_int(kMaxMagnitude + 1)) / kMaxMagnitude;
    };
    apply_change(image, detail::choose(rng, detail::trivialaugment_choices(), level), scratch);
  }
};

}  // namespace

OperationSchema randaugment_schema() {
  return {.name = "randaugment",
          .summary = "some of fourteen changes, drawn one by one, all of one magnitude",
          .parameters = {{.name = "changes",
                          .meaning = "how many changes one after the other",
                          .minimum = 0,
                          .maximum = 16,
                          .default_value = 2,
                          .whole = true},
                         {.name = "magnitude",
                          .meaning = "how strong they are",
                          .minimum = 0,
                          .maximum = kMaxMagnitude,
                          .default_value = 9},
                         {.name = "deviation",
                          .meaning =
                              "of a magnitude drawn anew for each change; 0 means always the same",
                          .minimum = 0,
                          .maximum = kMaxMagnitude,
                          .default_value = 0}},
          .example = "randaugment(2,9,0)",
          .make = [](std::span<const double> a) -> std::unique_ptr<const Operation> {
            return std::make_unique<RandAugment>(static_cast<int>(a[0]), a[1], a[2]);
          }};
}

OperationSchema trivialaugment_schema() {
  return {.name = "trivialaugment",
          .summary = "one of fourteen changes at a magnitude drawn from a wide range",
          .parameters = {},
          .example = "trivialaugment()",
          .make = [](std::span<const double>) -> std::unique_ptr<const Operation> {
            return std::make_unique<TrivialAugment>();
          }};
}

}  // namespace stoker
