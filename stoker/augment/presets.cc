#include "stoker/augment/presets.h"

#include <vector>

namespace stoker {

std::span<const Preset> builtin_presets() {
  static const std::vector<Preset> presets = {
      {.name = "none", .policy = "", .summary = "images as they are"},
      {.name = "mnist",
       .policy = "rotate(-15,15),shift(-2,2),skew(-0.15,0.15),noise(0.1)",
       .summary = "the four operations of the assignment, for 28x28 pictures"},
  };
  return presets;
}

}  // namespace stoker
