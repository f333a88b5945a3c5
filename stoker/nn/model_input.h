// What a model is made for; without LibTorch's headers.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/image/image.h"

namespace stoker {

struct ModelInput {
  ImageShape image;
  std::int64_t classes = 0;  // outputs of the head: those of a regression are its targets
  bool operator==(const ModelInput&) const = default;
};

// "28x28x1"
[[nodiscard]] std::string shape_text(const ImageShape& shape);

}  // namespace stoker
