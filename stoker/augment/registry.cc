#include "stoker/augment/registry.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

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
#include "stoker/augment/presets.h"
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

namespace {

// Grows at its end alone and keeps its elements where they are, so references to them stay valid.
struct Registered {
  std::mutex mutex;
  std::deque<OperationSchema> operations;
};

Registered& registered() {
  static Registered all;
  return all;
}

// Built-in ones first.
std::vector<const OperationSchema*> all_operations() {
  std::vector<const OperationSchema*> all;
  for (const OperationSchema& operation : builtin_operations()) all.push_back(&operation);
  const auto added = registered_operations();
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

[[noreturn]] void refuse(const OperationSchema& schema, std::string expected, std::string found) {
  throw Error({.what = fmt::format("cannot register the operation \"{}\"", schema.name),
               .expected = std::move(expected),
               .found = std::move(found)});
}

void check_name(const OperationSchema& schema) {
  const bool readable = !schema.name.empty() && std::ranges::all_of(schema.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (!readable) refuse(schema, "a name of a-z, 0-9, \"_\" and \"-\"", "another");
  const auto is_it = [&](const auto& other) { return other.name == schema.name; };
  if (std::ranges::any_of(builtin_presets(), is_it)) {
    refuse(schema, "a name that is free", "a preset of this name");
  }
  if (std::ranges::any_of(builtin_operations(), is_it) ||
      std::ranges::any_of(registered().operations, is_it)) {
    refuse(schema, "a name that is free", "an operation of this name");
  }
}

void check_parameter(const OperationSchema& schema, const ParameterSchema& parameter) {
  if (parameter.name.empty()) refuse(schema, "a name for each parameter", "one without");
  if (!(parameter.minimum <= parameter.maximum)) {
    refuse(schema, fmt::format("minimum <= maximum for {}", parameter.name),
           fmt::format("{} and {}", parameter.minimum, parameter.maximum));
  }
  const double value = parameter.default_value.value_or(parameter.minimum);
  if (!(value >= parameter.minimum && value <= parameter.maximum)) {
    refuse(schema,
           fmt::format("a default value of {} from {} to {}", parameter.name, parameter.minimum,
                       parameter.maximum),
           fmt::format("{}", value));
  }
}

}  // namespace

void register_operation(OperationSchema schema) {
  for (const ParameterSchema& parameter : schema.parameters) check_parameter(schema, parameter);
  if (schema.make == nullptr) refuse(schema, "a function that makes it", "none");
  const std::lock_guard lock(registered().mutex);
  check_name(schema);
  registered().operations.push_back(std::move(schema));
}

std::vector<const OperationSchema*> registered_operations() {
  const std::lock_guard lock(registered().mutex);
  std::vector<const OperationSchema*> all;
  for (const OperationSchema& operation : registered().operations) all.push_back(&operation);
  return all;
}

const OperationSchema& find_operation(std::string_view name) {
  std::vector<std::string> names;
  for (const OperationSchema* operation : all_operations()) {
    if (operation->name == name) return *operation;
    names.push_back(operation->name);
  }
  const std::string near = did_you_mean(name, names);
  throw OptionError({.what = "unknown operation",
                     .expected = fmt::format("one of {}", fmt::join(names, ", ")),
                     .found = fmt::format("\"{}\"", name),
                     .hint = near.empty() ? "`stoker ops` describes them all" : near});
}

}  // namespace stoker
