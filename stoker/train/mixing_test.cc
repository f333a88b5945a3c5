#include "stoker/train/mixing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

at::Tensor made_up(std::int64_t samples) {
  return at::arange(samples * 3 * 5 * 7, at::kFloat).mul_(0.37F).sin_().reshape({samples, 3, 5, 7});
}

const Mix kMixes[] = {
    {.kind = Mix::Kind::kMixup, .lambda = 0.3F},
    {.kind = Mix::Kind::kCutmix, .lambda = 0.8F, .box = {.y = 1, .x = 2, .height = 3, .width = 4}},
    {}};

// The way that other devices go gives what the CPU's loop gives, to the last bit.
TEST(Mixing, TensorsGiveTheSameBitsAsTheLoop) {
  for (const Mix& mix : kMixes) {
    for (const std::int64_t samples : {1, 4, 5}) {
      at::Tensor loop = made_up(samples), tensors = loop.clone();
      mix_pixels(loop, mix);
      mix_pixels_by_tensors(tensors, mix);
      EXPECT_TRUE(at::equal(loop, tensors)) << samples << " samples";
      const bool changes = mix.kind != Mix::Kind::kNone && samples > 1;
      EXPECT_EQ(!at::equal(loop, made_up(samples)), changes);
    }
  }
}

}  // namespace
}  // namespace stoker
