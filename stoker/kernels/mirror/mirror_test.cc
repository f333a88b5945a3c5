#include "stoker/kernels/mirror/mirror.h"

#include <vector>

#include <gtest/gtest.h>

#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

TEST(MirrorEveryVersion, EqualsTheReferenceForAllWidthsAndWritesNothingElse) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int channels : {1, 3}) {
      for (std::size_t width = 0; width <= 70; ++width) {
        std::vector<std::uint8_t> in(width * channels);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7 + 1);
        std::vector<std::uint8_t> expected(in.size() + 20, 99), actual = expected;
        mirror_row_reference(expected.data(), in.data(), width, channels);
        mirror_row(actual.data(), in.data(), width, channels);
        ASSERT_EQ(actual, expected) << name << " " << channels << " " << width;
      }
    }
  }
  force_simd("auto");
}

TEST(Mirror, TurnsPixelsNotChannels) {
  const std::vector<std::uint8_t> in = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<std::uint8_t> out(9);
  mirror_row(out.data(), in.data(), 3, 3);
  EXPECT_EQ(out, (std::vector<std::uint8_t>{7, 8, 9, 4, 5, 6, 1, 2, 3}));
}

}  // namespace
}  // namespace stoker
