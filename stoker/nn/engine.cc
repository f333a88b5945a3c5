#include "stoker/nn/engine.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {

void check_batch(const ModelInput& input, const at::Tensor& x) {
  const ImageShape& image = input.image;
  const bool fits = x.dim() == 4 && x.size(1) == image.channels && x.size(2) == image.height &&
                    x.size(3) == image.width;
  if (fits) return;
  throw Error(
      {.what = "the batch does not fit the network",
       .expected = fmt::format("images of {}x{}x{}", image.channels, image.height, image.width),
       .found = fmt::format("{} dimensions", x.dim())});
}

}  // namespace stoker
