// Kernels on wide images: four channels are four times one channel, 16 bits agree with the exact
// value, and no instruction set changes them.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/rng.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/noise/noise.h"
#include "stoker/kernels/normalise/normalise.h"
#include "stoker/kernels/resize/detail/resize_weights.h"
#include "stoker/kernels/resize/resize.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/warp/perspective.h"
#include "stoker/kernels/warp/warp.h"

namespace stoker {
namespace {

using test::random_image;

// Channels [first, first + count) of an image.
Image channels_of(const Image& image, int first, int count) {
  ImageShape shape = image.shape();
  shape.channels = count;
  Image out(shape);
  const std::size_t value = shape.bytes_per_value(), pixels = shape.values() / count;
  for (std::size_t i = 0; i < pixels; ++i) {
    std::copy_n(image.view().data + (i * image.shape().channels + first) * value, count * value,
                out.view().data + i * count * value);
  }
  return out;
}

// Applied to RGBA, a kernel does to colour and alpha what it does to each alone.
template <class Apply>
void expect_channels_apart(const Image& in, const ImageShape& out_shape, Apply apply) {
  const auto applied = [&](const Image& image) {
    ImageShape shape = out_shape;
    shape.channels = image.shape().channels;
    Image out(shape);
    apply(out.view(), image.view());
    return out;
  };
  const Image all = applied(in);
  ASSERT_EQ(channels_of(all, 0, 3), applied(channels_of(in, 0, 3)));
  ASSERT_EQ(channels_of(all, 3, 1), applied(channels_of(in, 3, 1)));
}

class WideKernels : public testing::Test {
 protected:
  ~WideKernels() override { force_simd("auto"); }
};

ResizeOptions some_options(Rng& rng) {
  constexpr ResizeFilter kFilters[] = {ResizeFilter::kNearest, ResizeFilter::kBox,
                                       ResizeFilter::kBilinear, ResizeFilter::kBicubic,
                                       ResizeFilter::kLanczos};
  return {.filter = kFilters[rng.uniform_int(5)],
          .antialias = rng.uniform_int(4) == 0 ? Antialias::kOff : Antialias::kOn,
          .order = rng.uniform_int(2) == 0 ? ResizeOrder::kPillow13 : ResizeOrder::kXFirst,
          .mirror = rng.uniform_int(2) == 0};
}

ResizeBox some_box(Rng& rng, const ImageShape& shape) {
  return {rng.uniform(0, shape.width / 2.0), rng.uniform(0, shape.height / 2.0),
          rng.uniform(shape.width / 2.0, shape.width),
          rng.uniform(shape.height / 2.0, shape.height)};
}

TEST_F(WideKernels, ResizeTakesChannelsApartAndEqualsTheReference) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    ResizeScratch scratch;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      Rng rng({.seed = seed}, 0);
      const auto side = [&] { return 1 + static_cast<int>(rng.uniform_int(60)); };
      const Image in = random_image({side(), side(), 4, seed % 2 == 0 ? 8 : 16}, seed);
      const ImageShape out_shape{side(), side(), 4, in.shape().depth};
      const ResizeBox box = seed % 3 == 0 ? whole_image(in.shape()) : some_box(rng, in.shape());
      const ResizeOptions options = some_options(rng);
      expect_channels_apart(in, out_shape, [&](const MutableImageView& out, const ImageView& view) {
        resize(out, view, box, options, scratch);
      });
      Image fast(out_shape), slow(out_shape);
      resize(fast.view(), in.view(), box, options, scratch);
      resize_reference(slow.view(), in.view(), box, options);
      ASSERT_EQ(fast, slow) << seed;
    }
  }
}

// Weights before they are rounded to whole numbers.
std::vector<std::vector<double>> exact_weights(const detail::AxisPlan& plan, ResizeFilter filter) {
  const detail::AxisSampling sampling(plan, detail::filter_support(filter), Antialias::kOn);
  std::vector<std::vector<double>> all(plan.out, std::vector<double>(plan.in));
  for (int x = 0; x < plan.out; ++x) {
    const double centre = sampling.centre(x);
    double sum = 0;
    for (int i = sampling.first(centre); i < sampling.end(centre); ++i) {
      const double at = (i - centre + 0.5) / sampling.stretch;
      all[x][i] = filter == ResizeFilter::kBox        ? detail::BoxFilter()(at)
                  : filter == ResizeFilter::kBilinear ? detail::BilinearFilter()(at)
                  : filter == ResizeFilter::kBicubic  ? detail::BicubicFilter()(at)
                                                      : detail::LanczosFilter()(at);
      sum += all[x][i];
    }
    for (double& weight : all[x]) weight /= sum;
  }
  return all;
}

double largest_error(const Image& in, const ImageShape& out_shape, ResizeFilter filter) {
  const detail::ResizePlan plan =
      detail::plan_resize(out_shape, in.shape(), whole_image(in.shape()), ResizeOrder::kPillow13);
  const auto x_weights = exact_weights(plan.x, filter), y_weights = exact_weights(plan.y, filter);
  Image out(out_shape);
  ResizeScratch scratch;
  resize(out.view(), in.view(), whole_image(in.shape()), {.filter = filter}, scratch);
  double largest = 0;
  for (int y = 0; y < out_shape.height; ++y) {
    for (int x = 0; x < out_shape.width; ++x) {
      double exact = 0;
      for (int v = 0; v < in.shape().height; ++v) {
        for (int u = 0; u < in.shape().width; ++u) {
          exact += y_weights[y][v] * x_weights[x][u] * in.view().values<std::uint16_t>(v)[u];
        }
      }
      const double value = out.view().values<std::uint16_t>(y)[x];
      largest = std::max(largest, std::abs(value - std::round(std::clamp(exact, 0.0, 65535.0))));
    }
  }
  return largest;
}

// Rounded once more than the exact value is, between the passes.
TEST(WideResize, OfSixteenBitsIsWithinOneOfTheExactValue) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Image in = random_image({31, 40, 1, 16}, seed);
    for (const ImageShape& shape : {ImageShape{12, 15, 1, 16}, {50, 70, 1, 16}, {9, 60, 1, 16}}) {
      EXPECT_LE(largest_error(in, shape, ResizeFilter::kBox), 1.0);
      EXPECT_LE(largest_error(in, shape, ResizeFilter::kBilinear), 1.0);
    }
  }
}

// Lanczos and bicubic reach beyond black and white between the passes, where values are limited: so
// of values in the middle half.
TEST(WideResize, WithNegativeWeightsIsWithinOneOfTheExactValue) {
  Image in = random_image({31, 40, 1, 16}, 3);
  for (int y = 0; y < 31; ++y) {
    for (int x = 0; x < 40; ++x) {
      std::uint16_t& value = in.view().values<std::uint16_t>(y)[x];
      value = static_cast<std::uint16_t>(16384 + value / 2);
    }
  }
  for (const ImageShape& shape : {ImageShape{12, 15, 1, 16}, {50, 70, 1, 16}}) {
    EXPECT_LE(largest_error(in, shape, ResizeFilter::kBicubic), 1.0);
    EXPECT_LE(largest_error(in, shape, ResizeFilter::kLanczos), 1.0);
  }
}

TEST(WideResize, OfTheSameSizeIsACopy) {
  const Image in = random_image({9, 8, 4, 16}, 1);
  Image out(in.shape());
  ResizeScratch scratch;
  resize(out.view(), in.view(), whole_image(in.shape()), {}, scratch);
  EXPECT_EQ(out, in);
}

TEST_F(WideKernels, WarpTakesChannelsApart) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    WarpScratch scratch;
    for (const int depth : {8, 16}) {
      const Image in = random_image({23, 37, 4, depth}, 5);
      const Affine map = then(rotation(33, 18, 11), skewing(0.2));
      expect_channels_apart(in, in.shape(),
                            [&](const MutableImageView& out, const ImageView& view) {
                              warp_affine(out, view, to_fixed(map), scratch);
                            });
      const Perspective side = perspective_between({{{0, 0}, {36, 0}, {36, 22}, {0, 22}}},
                                                   {{{3, 1}, {30, 4}, {33, 20}, {1, 15}}});
      expect_channels_apart(in, in.shape(),
                            [&](const MutableImageView& out, const ImageView& view) {
                              warp_perspective(out, view, side, scratch);
                            });
    }
  }
}

TEST(WideWarp, TheIdentityIsACopy) {
  for (const int channels : {1, 3, 4}) {
    const Image in = random_image({23, 37, channels, 16}, 6);
    Image out(in.shape());
    WarpScratch scratch;
    warp_affine(out.view(), in.view(), to_fixed(Affine{}), scratch);
    EXPECT_EQ(out, in);
  }
}

// Half way between pixels, of 16 bits: the sums would overflow 32 bits.
TEST(WideWarp, MeansOfTheLargestValuesAreExact) {
  Image in({4, 4, 1, 16});
  std::fill_n(in.view().data, in.shape().bytes(), 0xFF);
  Image out(in.shape());
  WarpScratch scratch;
  warp_affine(out.view(), in.view(), to_fixed(translation(0.5, 0.5)), scratch);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      const int expected = (x < 3 ? 2 : 1) * (y < 3 ? 2 : 1) * 65535;
      EXPECT_EQ(out.view().values<std::uint16_t>(y)[x], (expected + 2) / 4);
    }
  }
}

TEST_F(WideKernels, NormaliseMeansTheSameAtBothDepths) {
  const ChannelNumbers mean = {0.485, 0.456, 0.406, 0.5}, deviation = {0.229, 0.224, 0.225, 0.25};
  const Normalisation normalisation = from_mean_and_deviation(mean, deviation);
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int channels : {1, 3, 4}) {
      const Image in = random_image({6, 7, channels, 16}, 8);
      std::vector<float> out(in.shape().values());
      normalise(out.data(), in.view(), normalisation);
      std::size_t place = 0;
      for (int c = 0; c < channels; ++c) {
        for (int y = 0; y < 6; ++y) {
          for (int x = 0; x < 7; ++x) {
            const double value = in.view().values<std::uint16_t>(y)[x * channels + c] / 65535.0;
            ASSERT_NEAR(out[place++], (value - mean[c]) / deviation[c], 2e-6);
          }
        }
      }
    }
    // Of 8 bits with alpha: three planes of the colours, and one.
    const Image rgba = random_image({6, 7, 4}, 9), rgb = channels_of(rgba, 0, 3);
    std::vector<float> four(rgba.shape().values()), three(rgb.shape().values());
    normalise(four.data(), rgba.view(), normalisation);
    normalise(three.data(), rgb.view(), normalisation);
    ASSERT_TRUE(std::equal(three.begin(), three.end(), four.begin()));
    EXPECT_NEAR(four[126], (rgba.at(0, 0, 3) / 255.0 - 0.5) / 0.25, 1e-6);
  }
}

TEST(FromMeanAndDeviation, AMissingDeviationIsOne) {
  const Normalisation normalisation = from_mean_and_deviation({0.5, 0.5, 0.5}, {0.2, 0.2, 0.2});
  EXPECT_EQ(normalisation.scale[3], 1 / 255.0F);
  EXPECT_EQ(normalisation.offset[3], 0);
}

TEST(WideNoise, StaysWithinItsBoundsAndIsEven) {
  std::vector<std::uint16_t> values(40'000, 30'000);
  const std::uint16_t amplitude = wide_noise_amplitude(0.1);
  EXPECT_EQ(amplitude, 6554);
  add_wide_noise(values.data(), values.size(), amplitude, rng_stream({.seed = 4}, 2));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, 30'000 - 6554);
  EXPECT_LE(*most, 30'000 + 6554);
  EXPECT_LT(*least, 30'000 - 6500);
  EXPECT_GT(*most, 30'000 + 6500);
  double sum = 0;
  for (const std::uint16_t value : values) sum += value;
  EXPECT_NEAR(sum / 40'000, 30'000, 5 * 6554 / std::sqrt(3.0 * 40'000));
  std::vector<std::uint16_t> white(100, 65'535), black(100, 0);
  add_wide_noise(white.data(), 100, wide_noise_amplitude(1), rng_stream({}, 0));
  add_wide_noise(black.data(), 100, 0, rng_stream({}, 0));
  EXPECT_EQ(*std::max_element(white.begin(), white.end()), 65'535);
  EXPECT_EQ(black, std::vector<std::uint16_t>(100, 0));
}

}  // namespace
}  // namespace stoker
