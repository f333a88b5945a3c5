#include "stoker/train/mixing.h"

#include <ATen/ATen.h>

#include "stoker/core/invariant.h"

namespace stoker {

BatchShape batch_shape(const at::Tensor& pixels) {
  STOKER_INVARIANT(pixels.dim() == 4, "{} dimensions", pixels.dim());
  return {.samples = static_cast<std::size_t>(pixels.size(0)),
          .channels = static_cast<std::size_t>(pixels.size(1)),
          .height = static_cast<int>(pixels.size(2)),
          .width = static_cast<int>(pixels.size(3))};
}

void mix_pixels_by_tensors(at::Tensor& pixels, const Mix& mix) {
  if (mix.kind == Mix::Kind::kMixup) {
    const float rest = 1 - mix.lambda;
    const at::Tensor partners = pixels.flip(0).mul_(rest);
    // The middle one of an odd number stays as it is.
    const std::int64_t half = pixels.size(0) / 2;
    for (const std::int64_t first : {std::int64_t{0}, pixels.size(0) - half}) {
      pixels.narrow(0, first, half).mul_(mix.lambda).add_(partners.narrow(0, first, half));
    }
  }
  if (mix.kind == Mix::Kind::kCutmix) {
    at::Tensor box =
        pixels.narrow(2, mix.box.y, mix.box.height).narrow(3, mix.box.x, mix.box.width);
    box.copy_(box.flip(0));
  }
}

void mix_pixels(at::Tensor& pixels, const Mix& mix) {
  if (mix.kind == Mix::Kind::kNone) return;
  if (!pixels.is_cpu() || !pixels.is_contiguous()) return mix_pixels_by_tensors(pixels, mix);
  apply_mix({pixels.data_ptr<float>(), static_cast<std::size_t>(pixels.numel())},
            batch_shape(pixels), mix);
}

}  // namespace stoker
