#include "stoker/augment/detail/choices.h"

#include <cmath>

#include "stoker/augment/autocontrast.h"
#include "stoker/augment/brightness.h"
#include "stoker/augment/contrast.h"
#include "stoker/augment/equalize.h"
#include "stoker/augment/posterize.h"
#include "stoker/augment/saturation.h"
#include "stoker/augment/sharpness.h"
#include "stoker/augment/shear.h"
#include "stoker/augment/solarize.h"

namespace stoker::detail {
namespace {

constexpr Choice with_sign(Change change, double strongest, bool share_of_side = false) {
  return {
      .change = change, .strongest = strongest, .has_sign = true, .share_of_side = share_of_side};
}

// A hair more before the fraction is dropped: 150 / 331 of 331 pixels should be 150.
double whole_pixels(const Chosen& chosen, int side) {
  return std::trunc((chosen.share_of_side ? chosen.strength * side : chosen.strength) *
                    (1 + 1e-12));
}

// The identity for changes that are none of geometry.
Affine map_of(const Chosen& chosen, const ImageShape& shape) {
  const Centre centre = centre_of(shape);
  switch (chosen.change) {
    case Change::kShearX:
      return shearing_x(chosen.strength);
    case Change::kShearY:
      return shearing_y(chosen.strength);
    case Change::kTranslateX:
      return translation(-whole_pixels(chosen, shape.width), 0);
    case Change::kTranslateY:
      return translation(0, -whole_pixels(chosen, shape.height));
    case Change::kRotate:
      return rotation(chosen.strength, centre.x, centre.y);
    default:
      return {};
  }
}

}  // namespace

std::span<const Choice> randaugment_choices() {
  static constexpr Choice kChoices[] = {
      {.change = Change::kIdentity},
      with_sign(Change::kShearX, 0.3),
      with_sign(Change::kShearY, 0.3),
      with_sign(Change::kTranslateX, 150.0 / 331, true),
      with_sign(Change::kTranslateY, 150.0 / 331, true),
      with_sign(Change::kRotate, 30),
      with_sign(Change::kBrightness, 0.9),
      with_sign(Change::kSaturation, 0.9),
      with_sign(Change::kContrast, 0.9),
      with_sign(Change::kSharpness, 0.9),
      {.change = Change::kPosterize, .weakest = 8, .strongest = 4},
      {.change = Change::kSolarize, .weakest = 255},
      {.change = Change::kAutocontrast},
      {.change = Change::kEqualize}};
  return kChoices;
}

std::span<const Choice> trivialaugment_choices() {
  static constexpr Choice kChoices[] = {
      {.change = Change::kIdentity},
      with_sign(Change::kShearX, 0.99),
      with_sign(Change::kShearY, 0.99),
      with_sign(Change::kTranslateX, 32),
      with_sign(Change::kTranslateY, 32),
      with_sign(Change::kRotate, 135),
      with_sign(Change::kBrightness, 0.99),
      with_sign(Change::kSaturation, 0.99),
      with_sign(Change::kContrast, 0.99),
      with_sign(Change::kSharpness, 0.99),
      {.change = Change::kPosterize, .weakest = 8, .strongest = 2},
      {.change = Change::kSolarize, .weakest = 255},
      {.change = Change::kAutocontrast},
      {.change = Change::kEqualize}};
  return kChoices;
}

std::span<const Choice> augmix_choices() {
  static constexpr Choice kChoices[] = {
      with_sign(Change::kShearX, 0.3),
      with_sign(Change::kShearY, 0.3),
      with_sign(Change::kTranslateX, 1.0 / 3, true),
      with_sign(Change::kTranslateY, 1.0 / 3, true),
      with_sign(Change::kRotate, 30),
      {.change = Change::kPosterize, .weakest = 4, .strongest = 0},
      {.change = Change::kSolarize, .weakest = 255},
      {.change = Change::kAutocontrast},
      {.change = Change::kEqualize},
      with_sign(Change::kBrightness, 0.9),
      with_sign(Change::kSaturation, 0.9),
      with_sign(Change::kContrast, 0.9),
      with_sign(Change::kSharpness, 0.9)};
  return kChoices;
}

void apply_change(const MutableImageView& image, const Chosen& chosen, AugmentScratch& scratch) {
  const double factor = 1 + chosen.strength;
  switch (chosen.change) {
    case Change::kIdentity:
      return;
    case Change::kBrightness:
      return brightness_in_place(image, factor);
    case Change::kSaturation:
      return saturation_in_place(image, factor);
    case Change::kContrast:
      return contrast_in_place(image, factor);
    case Change::kSharpness:
      return sharpness_in_place(image, factor, scratch);
    case Change::kPosterize:
      return posterize_in_place(image, static_cast<int>(std::floor(chosen.strength + 0.5)));
    case Change::kSolarize:
      return solarize_in_place(image, chosen.strength);
    case Change::kAutocontrast:
      return autocontrast_in_place(image);
    case Change::kEqualize:
      return equalize_in_place(image);
    default:
      return resample_in_place(image, map_of(chosen, image.shape), scratch);
  }
}

}  // namespace stoker::detail
