#include "stoker/nn/families/built_families.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr int kLeastBuiltSide = 32;

void check_side(const BuiltFamily& family, const std::string& architecture,
                const ImageShape& image) {
  const auto fits = [&](int side) {
    return side >= kLeastBuiltSide && side % family.side_step == 0;
  };
  if (fits(image.height) && fits(image.width)) return;
  const int step = family.side_step;
  const std::string step_text =
      step > 1 ? fmt::format(", sides that are multiples of {}", step) : "";
  throw Error({.what = fmt::format("{} does not fit the data", architecture),
               .expected = fmt::format("images of at least {0}x{0}{1}", kLeastBuiltSide, step_text),
               .found = shape_text(image),
               .hint = "Set `img_size`; cnn:small takes images of any size"});
}

}  // namespace

std::span<const BuiltFamily> built_families() {
  static const std::vector<BuiltFamily> all = {convnext_family(), vit_family(),
                                               efficientnet_family(), mobilenet_v3_family(),
                                               regnet_family()};
  return all;
}

const BuiltFamily* find_built_family(const std::string& architecture) {
  for (const BuiltFamily& one : built_families()) {
    if (std::ranges::find(one.family.members, architecture) != one.family.members.end()) {
      return &one;
    }
  }
  return nullptr;
}

BuiltGraph build_network(const BuiltFamily& family, const std::string& architecture,
                         const ModelInput& input, double drop_path) {
  check_side(family, architecture, input.image);
  if (drop_path != 0 && !family.drops_paths) {
    throw OptionError({.what = fmt::format("{} has no stochastic depth", architecture),
                       .expected = "`drop_path` 0",
                       .found = fmt::format("{}", drop_path)});
  }
  return family.build(architecture, input, drop_path);
}

}  // namespace stoker
