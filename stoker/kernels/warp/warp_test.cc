#include "stoker/kernels/warp/warp.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/rng.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

using test::random_image;

// Rotation, skew, scale and shift of all sizes, from the identity to far outside.
Affine random_map(std::uint64_t seed, const ImageShape& shape) {
  Rng rng({.seed = seed}, 1);
  const double cx = (shape.width - 1) / 2.0, cy = (shape.height - 1) / 2.0;
  Affine map = rotation(rng.uniform(-180, 180), cx, cy);
  map = then(map, skewing(rng.uniform(-0.5, 0.5)));
  map = then(map, scaling(rng.uniform(0.2, 4), cx, cy));
  return then(map,
              translation(rng.uniform(-1, 1) * shape.width, rng.uniform(-1, 1) * shape.height));
}

class WarpEveryVersion : public testing::Test {
 protected:
  ~WarpEveryVersion() override { force_simd("auto"); }

  static void expect_same_as_reference(const ImageShape& out_shape, const Image& in,
                                       const Affine& map, WarpScratch& scratch) {
    Image expected(out_shape), actual(out_shape);
    warp_affine_reference(expected.view(), in.view(), to_fixed(map));
    warp_affine(actual.view(), in.view(), to_fixed(map), scratch);
    ASSERT_EQ(actual, expected) << active_simd() << " " << out_shape.height << "x"
                                << out_shape.width << "x" << out_shape.channels;
  }
};

TEST_F(WarpEveryVersion, EqualsTheReferenceForAllWidths) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    WarpScratch scratch;
    for (const int channels : {1, 3}) {
      for (int width = 1; width <= 70; ++width) {
        const Image in = random_image({.height = 9, .width = width, .channels = channels}, width);
        expect_same_as_reference(in.shape(), in, random_map(width, in.shape()), scratch);
      }
    }
  }
}

TEST_F(WarpEveryVersion, EqualsTheReferenceForManyMaps) {
  const ImageShape out_shape{.height = 31, .width = 45};
  for (const auto& name : available_simd()) {
    force_simd(name);
    WarpScratch scratch;
    const Image in = random_image({.height = 28, .width = 28}, 1);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      expect_same_as_reference(out_shape, in, random_map(seed, in.shape()), scratch);
    }
  }
}

TEST_F(WarpEveryVersion, EqualsTheReferenceWhereThirtyTwoBitsDoNotSuffice) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    WarpScratch scratch;
    const Image in = random_image({.height = 20, .width = 40}, 1);
    for (const double far : {8191.0, 8192.0, 40'000.0, -40'000.0, 1e9}) {
      expect_same_as_reference(in.shape(), in, translation(far, -far), scratch);
    }
    expect_same_as_reference(in.shape(), in, {.xx = 1e6, .x0 = -2e7, .yy = 0.1}, scratch);
  }
}

TEST_F(WarpEveryVersion, ReadsAndWritesRowsWithGaps) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int channels : {1, 3}) {
      const Image whole = random_image({.height = 30, .width = 50, .channels = channels}, 3);
      ImageView part = whole.view();
      part.shape.width = 33;
      part.shape.height = 21;
      Image frame({.height = 30, .width = 60, .channels = channels});
      MutableImageView out = frame.view();
      out.shape.width = 40;
      Image expected({.height = 30, .width = 40, .channels = channels});
      const FixedAffine map = to_fixed(random_map(8, part.shape));
      warp_affine_reference(expected.view(), part, map);
      WarpScratch scratch;
      warp_affine(out, part, map, scratch);
      EXPECT_EQ(Image(ImageView(out)), expected) << name;
      EXPECT_EQ(frame.at(10, 40), 0) << "wrote beyond its row: " << name;
    }
  }
}

TEST_F(WarpEveryVersion, AScratchServesImagesOfChangingShape) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    WarpScratch scratch;
    for (const int side : {40, 20, 33, 40}) {
      const Image in = random_image({.height = side, .width = side + 3}, side);
      expect_same_as_reference(in.shape(), in, random_map(side, in.shape()), scratch);
    }
  }
}

TEST_F(WarpEveryVersion, IdentityCopies) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    const Image in = random_image({.height = 28, .width = 28}, 2);
    Image out(in.shape());
    WarpScratch scratch;
    warp_affine(out.view(), in.view(), to_fixed(Affine{}), scratch);
    EXPECT_EQ(out, in) << name;
  }
}

// Against plain floating-point interpolation: the weights have 8 bits, so at most two grey levels.
TEST(Warp, IsBilinearInterpolation) {
  const Image in = random_image({.height = 28, .width = 28}, 5);
  const Affine map = then(rotation(12, 13.5, 13.5), skewing(0.1));
  Image out(in.shape());
  warp_affine_reference(out.view(), in.view(), to_fixed(map));
  const auto pixel = [&](int y, int x) {
    return y < 0 || x < 0 || y > 27 || x > 27 ? 0.0 : static_cast<double>(in.at(y, x));
  };
  for (int y = 0; y < 28; ++y) {
    for (int x = 0; x < 28; ++x) {
      const double u = map.xx * x + map.xy * y + map.x0, v = map.yx * x + map.yy * y + map.y0;
      const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
      const double fu = u - i, fv = v - j;
      const double exact = (pixel(j, i) * (1 - fu) + pixel(j, i + 1) * fu) * (1 - fv) +
                           (pixel(j + 1, i) * (1 - fu) + pixel(j + 1, i + 1) * fu) * fv;
      ASSERT_NEAR(out.at(y, x), exact, 2.0) << y << " " << x;
    }
  }
}

TEST(Warp, AQuarterTurnMovesPixelsExactly) {
  const Image in = random_image({.height = 28, .width = 28}, 6);
  Image out(in.shape());
  warp_affine_reference(out.view(), in.view(), to_fixed(rotation(90, 13.5, 13.5)));
  for (int y = 0; y < 28; ++y) {
    for (int x = 0; x < 28; ++x) ASSERT_EQ(out.at(y, x), in.at(x, 27 - y));  // counter-clockwise
  }
}

}  // namespace
}  // namespace stoker
