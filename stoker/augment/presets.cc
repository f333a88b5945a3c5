#include "stoker/augment/presets.h"

#include <vector>

namespace stoker {

std::span<const Preset> builtin_presets() {
  static const std::vector<Preset> presets = {
      {.name = "none", .policy = "", .summary = "images as they are"},
      {.name = "mnist",
       .policy = "rotate(-15,15),shift(-2,2),skew(-0.15,0.15),noise(0.1)",
       .summary = "the four operations of the assignment, for 28x28 images"},
      {.name = "imagenet-train",
       .policy = "random_resized_crop(224),hflip(0.5)",
       .summary = "how torchvision's reference trains on photographs"},
      {.name = "imagenet-eval",
       .policy = "resize_crop(256,224)",
       .summary = "how published weights are evaluated"},
      {.name = "plates",
       .policy = "random_resized_crop(224),hflip(0.5)",
       .summary = "the course project's training transforms"},
      {.name = "plates-eval",
       .policy = "resize(224,224)",
       .summary = "the course project's validation: all of the image, whatever its shape"},
  };
  return presets;
}

}  // namespace stoker
