#include "stoker/nn/model_input.h"

#include <fmt/format.h>

namespace stoker {

std::string shape_text(const ImageShape& shape) {
  return fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

}  // namespace stoker
