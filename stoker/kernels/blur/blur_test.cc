#include "stoker/kernels/blur/blur.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

class BlurEveryVersion : public testing::Test {
 protected:
  ~BlurEveryVersion() override { force_simd("auto"); }
};

Image blurred(const ImageView& in, const BlurWeights& weights) {
  Image out(in.shape);
  BlurScratch scratch;
  blur(out.view(), in, weights, scratch);
  return out;
}

TEST_F(BlurEveryVersion, EqualsTheReferenceForAllWidthsAndRadii) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int channels : {1, 3}) {
      for (int width = 1; width <= 70; width += width < 40 ? 1 : 7) {
        const Image whole =
            test::random_image({.height = 4, .width = width + 2, .channels = channels}, 5);
        const int size = 2 * (width % 13) + 1;
        for (const bool gaps : {false, true}) {
          ImageView in = whole.view();
          if (gaps) in.shape.width = width;
          Image expected(in.shape);
          blur_reference(expected.view(), in, gaussian_weights(size, 1.1));
          ASSERT_EQ(blurred(in, gaussian_weights(size, 1.1)), expected) << name << " " << width;
        }
      }
    }
  }
}

// The largest sums that can occur must not leave 16 bits.
TEST_F(BlurEveryVersion, LeavesImagesOfOneColourAsTheyAre) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int value : {0, 1, 127, 254, 255}) {
      Image in({.height = 9, .width = 67});
      std::fill_n(in.view().data, in.shape().bytes(), static_cast<std::uint8_t>(value));
      for (const int size : {1, 3, 23, 51}) {
        for (const double sigma : {0.05, 0.7, 3.0, 1000.0}) {
          ASSERT_EQ(blurred(in.view(), gaussian_weights(size, sigma)), in) << size << " " << sigma;
        }
      }
    }
  }
}

TEST(Blur, IsTheGaussianWithinOneLevel) {
  const Image in = test::random_image({.height = 17, .width = 23}, 3);
  for (const int size : {3, 9, 23, 51}) {
    const double sigma = 0.2 * size;
    std::vector<double> bell(size / 2 + 1);
    double sum = 0;
    for (int i = 0; i <= size / 2; ++i) {
      bell[i] = std::exp(-0.5 * i * i / sigma / sigma);
      sum += (i == 0 ? 1 : 2) * bell[i];
    }
    const Image out = blurred(in.view(), gaussian_weights(size, sigma));
    for (int y = 0; y < 17; ++y) {
      for (int x = 0; x < 23; ++x) {
        double expected = 0;
        for (int dy = -size / 2; dy <= size / 2; ++dy) {
          for (int dx = -size / 2; dx <= size / 2; ++dx) {
            expected += bell[std::abs(dy)] * bell[std::abs(dx)] / sum / sum *
                        in.at(detail::reflected(y + dy, 17), detail::reflected(x + dx, 23));
          }
        }
        ASSERT_LE(std::abs(out.at(y, x) - expected), 1) << size << " " << y << " " << x;
      }
    }
  }
}

TEST(Blur, ReflectsAtTheOutermostPixel) {
  EXPECT_EQ(detail::reflected(-1, 4), 1);
  EXPECT_EQ(detail::reflected(4, 4), 2);
  EXPECT_EQ(detail::reflected(-7, 4), 1);
  EXPECT_EQ(detail::reflected(9, 1), 0);
}

TEST(GaussianWeights, AddUpToOne) {
  for (const int size : {3, 5, 23, 51}) {
    const BlurWeights w = gaussian_weights(size, 1.7);
    int sum = w.weights[0];
    for (int i = 1; i <= w.radius; ++i) sum += 2 * w.weights[i];
    EXPECT_EQ(sum, 1 << 15);
  }
}

TEST(GaussianWeights, RefuseWrongSizes) {
  EXPECT_THROW(static_cast<void>(gaussian_weights(2, 1)), Error);
  EXPECT_THROW(static_cast<void>(gaussian_weights(53, 1)), Error);
  EXPECT_THROW(static_cast<void>(gaussian_weights(-1, 1)), Error);
  EXPECT_THROW(static_cast<void>(gaussian_weights(3, 0)), Error);
  EXPECT_THROW(static_cast<void>(gaussian_weights(3, std::nan(""))), Error);
}

}  // namespace
}  // namespace stoker
