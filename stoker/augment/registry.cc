#include "stoker/augment/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/augment/augmix.h"
#include "stoker/augment/autocontrast.h"
#include "stoker/augment/blur.h"
#include "stoker/augment/brightness.h"
#include "stoker/augment/colour_jitter.h"
#include "stoker/augment/contrast.h"
#include "stoker/augment/equalize.h"
#include "stoker/augment/erase.h"
#include "stoker/augment/flip.h"
#include "stoker/augment/greyscale.h"
#include "stoker/augment/hue.h"
#include "stoker/augment/invert.h"
#include "stoker/augment/noise.h"
#include "stoker/augment/perspective.h"
#include "stoker/augment/posterize.h"
#include "stoker/augment/randaugment.h"
#include "stoker/augment/resize_operations.h"
#include "stoker/augment/rotate.h"
#include "stoker/augment/saturation.h"
#include "stoker/augment/scale.h"
#include "stoker/augment/sharpness.h"
#include "stoker/augment/shear.h"
#include "stoker/augment/shift.h"
#include "stoker/augment/skew.h"
#include "stoker/augment/solarize.h"
#include "stoker/augment/translate.h"
#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker {

// A list, not registration by static initialisers: the linker drops those it sees no use of.
std::span<const OperationSchema> builtin_operations() {
  static const std::vector<OperationSchema> operations = {
      // size
      random_resized_crop_schema(),
      resize_schema(),
      resize_crop_schema(),
      // geometry
      rotate_schema(),
      shift_schema(),
      skew_schema(),
      scale_schema(),
      hflip_schema(),
      vflip_schema(),
      shear_x_schema(),
      shear_y_schema(),
      translate_x_schema(),
      translate_y_schema(),
      perspective_schema(),
      // colours
      brightness_schema(),
      contrast_schema(),
      saturation_schema(),
      hue_schema(),
      colour_jitter_schema(),
      greyscale_schema(),
      solarize_schema(),
      posterize_schema(),
      autocontrast_schema(),
      equalize_schema(),
      invert_schema(),
      // detail
      noise_schema(),
      blur_schema(),
      sharpness_schema(),
      erase_schema(),
      // policies that choose by chance
      randaugment_schema(),
      trivialaugment_schema(),
      augmix_schema(),
  };
  return operations;
}

const OperationSchema& find_operation(std::string_view name) {
  std::vector<std::string> names;
  for (const OperationSchema& operation : builtin_operations()) {
    if (operation.name == name) return operation;
    names.push_back(operation.name);
  }
  const std::string near = did_you_mean(name, names);
  throw Error({.what = "there is no such operation",
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .found = fmt::format("\"{}\"", name),
               .hint = near.empty() ? "`stoker ops` describes them all" : near});
}

}  // namespace stoker
