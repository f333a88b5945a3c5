// The changes from which RandAugment, TrivialAugment and AugMix choose, with torchvision's ranges.
#pragma once

#include <span>

#include "stoker/augment/operation.h"

namespace stoker::detail {

enum class Change {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kSaturation,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutocontrast,
  kEqualize,
};

// A change and its strength: at level 0 `weakest`, at level 1 `strongest`, in between in
// proportion. The enhancing changes count from factor 1; a sign is drawn where both directions make
// sense.
struct Choice {
  Change change;
  double weakest = 0, strongest = 0;
  bool has_sign = false;
  bool share_of_side = false;  // translations: of the width or height, else in pixels
};

// What was drawn: a change with its strength, sign included.
struct Chosen {
  Change change;
  double strength;
  bool share_of_side;
};

[[nodiscard]] std::span<const Choice> randaugment_choices();
[[nodiscard]] std::span<const Choice> trivialaugment_choices();
[[nodiscard]] std::span<const Choice> augmix_choices();

// Each choice equally often, at the level in [0, 1] that `draw_level` gives after the choice is
// made.
template <class DrawLevel>
[[nodiscard]] Chosen choose(Rng& rng, std::span<const Choice> choices, DrawLevel draw_level) {
  const Choice& choice = choices[rng.uniform_int(static_cast<std::uint32_t>(choices.size()))];
  const double level = draw_level(rng);
  const double strength = choice.weakest + (choice.strongest - choice.weakest) * level;
  const bool negative = choice.has_sign && rng.uniform_int(2) == 1;
  return {.change = choice.change,
          .strength = negative ? -strength : strength,
          .share_of_side = choice.share_of_side};
}

// `image` has no gaps. Geometry is bilinear, black fills.
void apply_change(const MutableImageView& image, const Chosen& chosen, AugmentScratch& scratch);

}  // namespace stoker::detail
