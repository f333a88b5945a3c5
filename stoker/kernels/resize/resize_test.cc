#include "stoker/kernels/resize/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/resize/detail/resize_weights.h"
#include "stoker/kernels/simd.h"

// Equality with Pillow itself is tests/resize_test.py's matter.
namespace stoker {
namespace {

using test::random_image;

constexpr ResizeFilter kFilters[] = {ResizeFilter::kNearest, ResizeFilter::kBox,
                                     ResizeFilter::kBilinear, ResizeFilter::kBicubic,
                                     ResizeFilter::kLanczos};

Image resized_reference(const Image& in, const ImageShape& shape, const ResizeBox& box,
                        const ResizeOptions& options) {
  Image out(shape);
  resize_reference(out.view(), in.view(), box, options);
  return out;
}

Image flipped(const Image& in) {
  Image out(in.shape());
  const int height = in.shape().height, width = in.shape().width;
  const int channels = in.shape().channels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        out.view().row(y)[x * channels + c] = in.at(y, width - 1 - x, c);
      }
    }
  }
  return out;
}

class ResizeEveryVersion : public testing::Test {
 protected:
  ~ResizeEveryVersion() override { force_simd("auto"); }

  static void expect_same_as_reference(const Image& in, const ImageShape& shape,
                                       const ResizeBox& box, const ResizeOptions& options,
                                       ResizeScratch& scratch) {
    Image actual(shape);
    resize(actual.view(), in.view(), box, options, scratch);
    ASSERT_EQ(actual, resized_reference(in, shape, box, options))
        << active_simd() << " " << in.shape().height << "x" << in.shape().width << "x"
        << in.shape().channels << " to " << shape.height << "x" << shape.width << ", box "
        << box.left << " " << box.top << " " << box.right << " " << box.bottom << ", filter "
        << static_cast<int>(options.filter);
  }
};

struct RandomCall {
  ImageShape in, out;
  ResizeBox box{};
  ResizeOptions options;
};

RandomCall random_call(std::uint64_t seed) {
  Rng rng({.seed = seed}, 0);
  const auto side = [&] { return static_cast<int>(std::exp2(rng.uniform(0, 7.5))); };
  RandomCall call;
  call.in = {.height = side(), .width = side(), .channels = seed % 2 == 0 ? 1 : 3};
  call.out = {.height = side(), .width = side(), .channels = call.in.channels};
  if (rng.uniform_int(4) == 0) call.out.width = call.in.width;
  if (rng.uniform_int(4) == 0) call.out.height = call.in.height;
  call.box = whole_image(call.in);
  if (rng.uniform_int(3) != 0) {
    call.box.left = rng.uniform(0, call.in.width / 2.0);
    call.box.right = rng.uniform(call.in.width / 2.0, call.in.width);
    call.box.top = rng.uniform(0, call.in.height / 2.0);
    call.box.bottom = rng.uniform(call.in.height / 2.0, call.in.height);
  }
  call.options = {.filter = kFilters[rng.uniform_int(5)],
                  .antialias = rng.uniform_int(4) == 0 ? Antialias::kOff : Antialias::kOn,
                  .order = rng.uniform_int(2) == 0 ? ResizeOrder::kPillow13 : ResizeOrder::kXFirst,
                  .mirror = rng.uniform_int(2) == 0};
  return call;
}

TEST_F(ResizeEveryVersion, EqualsTheReferenceForManySizesBoxesAndOptions) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    ResizeScratch scratch;  // serves calls of changing shape
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
      const RandomCall call = random_call(seed);
      expect_same_as_reference(random_image(call.in, seed), call.out, call.box, call.options,
                               scratch);
    }
  }
}

TEST_F(ResizeEveryVersion, EqualsTheReferenceForAllWidths) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    ResizeScratch scratch;
    for (const int channels : {1, 3}) {
      for (int width = 1; width <= 70; ++width) {
        const Image in = random_image({.height = 9, .width = width, .channels = channels}, width);
        for (const int out_width : {1, 5, width, width + 1, 2 * width, 71 - width, 75}) {
          const ImageShape shape{.height = 7, .width = out_width, .channels = channels};
          expect_same_as_reference(in, shape, whole_image(in.shape()), {}, scratch);
        }
      }
    }
  }
}

// From one tap an axis to hundreds: every number of steps, and groups that lie too far apart for
// the versions that fetch from one piece of a row.
TEST_F(ResizeEveryVersion, EqualsTheReferenceForAllScales) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    ResizeScratch scratch;
    for (const ResizeFilter filter : kFilters) {
      for (const int channels : {1, 3}) {
        for (const int side : {1, 2, 3, 7, 20, 40, 90, 130, 250, 400, 900}) {
          const Image in = random_image({.height = 31, .width = side, .channels = channels}, side);
          const Image tall = random_image({.height = side, .width = 31, .channels = channels}, 1);
          const ImageShape shape{.height = 25, .width = 45, .channels = channels};
          expect_same_as_reference(in, shape, whole_image(in.shape()), {.filter = filter}, scratch);
          expect_same_as_reference(tall, shape, whole_image(tall.shape()), {.filter = filter},
                                   scratch);
        }
      }
    }
  }
}

// Extremes of every sum: pixels that make the filters overshoot on both sides.
TEST_F(ResizeEveryVersion, LimitsOvershootLikeTheReference) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    ResizeScratch scratch;
    Image in({.height = 40, .width = 40, .channels = 3});
    for (int y = 0; y < 40; ++y) {
      for (int i = 0; i < 120; ++i) in.view().row(y)[i] = (i / 3 + y) % 5 < 2 ? 255 : 0;
    }
    for (const ResizeFilter filter : kFilters) {
      for (const int side : {13, 39, 41, 100}) {
        expect_same_as_reference(in, {.height = side, .width = side, .channels = 3},
                                 whole_image(in.shape()), {.filter = filter}, scratch);
      }
    }
  }
}

TEST_F(ResizeEveryVersion, ReadsAndWritesRowsWithGaps) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int channels : {1, 3}) {
      for (const int out_height : {5, 60}) {  // either axis first
        const Image whole = random_image({.height = 50, .width = 60, .channels = channels}, 3);
        ImageView part = whole.view();
        part.shape.width = 43;
        part.shape.height = 37;
        const ImageShape shape{.height = out_height, .width = 40, .channels = channels};
        Image frame({.height = 60, .width = 90, .channels = channels});
        MutableImageView out = frame.view();
        out.shape = shape;
        ResizeScratch scratch;
        resize(out, part, whole_image(part.shape), {}, scratch);
        EXPECT_EQ(Image(ImageView(out)),
                  resized_reference(Image(part), shape, whole_image(part.shape), {}))
            << name;
        for (int y = 0; y < out_height; ++y) {
          ASSERT_EQ(frame.at(y, 40), 0) << "wrote beyond row " << y << ": " << name;
        }
      }
    }
  }
}

TEST_F(ResizeEveryVersion, MirrorFlipsTheResult) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    ResizeScratch scratch;
    for (const ResizeFilter filter : kFilters) {
      for (const auto& [width, height] : {std::pair{31, 20}, std::pair{50, 33}, std::pair{70, 9}}) {
        const Image in = random_image({.height = 33, .width = 50, .channels = 3}, 4);
        Image plain({.height = height, .width = width, .channels = 3}), mirrored(plain.shape());
        resize(plain.view(), in.view(), whole_image(in.shape()), {.filter = filter}, scratch);
        resize(mirrored.view(), in.view(), whole_image(in.shape()),
               {.filter = filter, .mirror = true}, scratch);
        EXPECT_EQ(mirrored, flipped(plain)) << name;
      }
    }
  }
}

TEST_F(ResizeEveryVersion, ALongRowToOnePixelTakesMemoryForItsTapsOnly) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    ResizeScratch scratch;
    for (const ResizeFilter filter : kFilters) {
      const Image in = random_image({.height = 1, .width = 65'500, .channels = 3}, 2);
      const ImageShape one{.height = 1, .width = 1, .channels = 3};
      expect_same_as_reference(in, one, whole_image(in.shape()), {.filter = filter}, scratch);
    }
    EXPECT_LE(scratch.x.weights.capacity(), 10U * 65'501);
  }
}

TEST(Resize, KeepsAnImageOfOneColour) {
  for (const ResizeFilter filter : kFilters) {
    for (const int value : {0, 1, 127, 254, 255}) {
      Image in({.height = 41, .width = 29, .channels = 3});
      std::fill_n(in.view().data, in.shape().bytes(), static_cast<std::uint8_t>(value));
      for (const int side : {3, 28, 50}) {
        Image out({.height = side, .width = side, .channels = 3});
        resize_reference(out.view(), in.view(), {1.3, 2.2, 20.1, 30.7}, {.filter = filter});
        for (std::size_t i = 0; i < out.shape().bytes(); ++i) {
          ASSERT_EQ(out.view().data[i], value) << static_cast<int>(filter);
        }
      }
    }
  }
}

// Plain interpolation between the two nearest centres, borders repeated; both axes rounded to 8
// bits, so at most one grey level off.
TEST(Resize, WithoutAntialiasingIsPlainBilinearInterpolation) {
  const Image in = random_image({.height = 50, .width = 64}, 7);
  Image out({.height = 17, .width = 15});
  resize_reference(out.view(), in.view(), whole_image(in.shape()), {.antialias = Antialias::kOff});
  const auto pixel = [&](double y, double x) {
    return static_cast<double>(in.at(static_cast<int>(std::clamp(y, 0.0, 49.0)),
                                     static_cast<int>(std::clamp(x, 0.0, 63.0))));
  };
  for (int y = 0; y < 17; ++y) {
    for (int x = 0; x < 15; ++x) {
      const double u = (x + 0.5) * 64 / 15 - 0.5, v = (y + 0.5) * 50 / 17 - 0.5;
      const double i = std::floor(u), j = std::floor(v), fu = u - i, fv = v - j;
      const double exact = (pixel(j, i) * (1 - fu) + pixel(j, i + 1) * fu) * (1 - fv) +
                           (pixel(j + 1, i) * (1 - fu) + pixel(j + 1, i + 1) * fu) * fv;
      ASSERT_NEAR(out.at(y, x), exact, 1.01) << y << " " << x;
    }
  }
}

TEST(Resize, TheOrderOfTheAxesIsPillows) {
  const Image in = random_image({.height = 100, .width = 40, .channels = 3}, 9);
  const auto step = [](const Image& image, int height, int width) {
    return resized_reference(image, {height, width, 3}, whole_image(image.shape()), {});
  };
  const Image x_then_y = step(step(in, 100, 30), 79, 30), y_then_x = step(step(in, 79, 40), 79, 30);
  ASSERT_NE(x_then_y, y_then_x);
  EXPECT_EQ(step(in, 79, 30), y_then_x);  // 21 rows less, 10 columns less
  EXPECT_EQ(step(in, 80, 30), step(step(in, 100, 30), 80, 30));
  EXPECT_EQ(
      resized_reference(in, {79, 30, 3}, whole_image(in.shape()), {.order = ResizeOrder::kXFirst}),
      x_then_y);
}

TEST(Resize, RefusesBoxesBeyondTheImage) {
  const Image in = random_image({.height = 9, .width = 8}, 1);
  Image out({.height = 4, .width = 4});
  ResizeScratch scratch;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const ResizeBox& box : {ResizeBox{-0.1, 0, 8, 9},
                               {0, 0, 8.1, 9},
                               {0, 0, 8, 9.1},
                               {5, 0, 4, 9},
                               {0, nan, 8, 9},
                               {0, 0, nan, 9}}) {
    EXPECT_THROW(resize(out.view(), in.view(), box, {}, scratch), Error);
    EXPECT_THROW(resize_reference(out.view(), in.view(), box, {}), Error);
  }
}

// ---- Weights

ResizeAxis weights_of(int in, int out, double begin, double end, ResizeFilter filter) {
  ResizeAxis axis;
  detail::make_weights(
      axis,
      {.in = in, .out = out, .begin = static_cast<float>(begin), .end = static_cast<float>(end)},
      {.filter = filter}, {});
  return axis;
}

double lanczos_of_the_c_library(double x) {
  const auto sinc = [](double v) {
    return v == 0 ? 1 : std::sin(v * std::numbers::pi) / (v * std::numbers::pi);
  };
  return -3 <= x && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

TEST(ResizeWeights, LanczosIsThatOfTheCLibraryWithin2e15) {
  for (int i = -310'000; i <= 310'000; ++i) {
    const double x = i * 1e-5;
    ASSERT_LE(std::abs(detail::LanczosFilter()(x) - lanczos_of_the_c_library(x)), 2e-15) << x;
  }
}

TEST(ResizeWeights, LanczosRoundsAsWithTheCLibrary) {
  int compared = 0;
  for (int seed = 0; seed < 3000; ++seed) {
    Rng rng({.seed = 5, .sample = static_cast<std::uint64_t>(seed)}, 0);
    const int in = 1 + static_cast<int>(rng.uniform_int(600)),
              out = 1 + static_cast<int>(rng.uniform_int(300));
    const auto begin = static_cast<float>(seed % 2 == 0 ? 0 : rng.uniform(0, in / 2.0));
    const auto axis = weights_of(in, out, begin, in, ResizeFilter::kLanczos);
    const detail::AxisSampling sampling({in, out, begin, static_cast<float>(in)}, 3,
                                        Antialias::kOn);
    for (int x = 0; x < out; ++x) {
      std::vector<double> exact;
      double sum = 0;
      for (int i = 0; i < axis.count[x]; ++i) {
        exact.push_back(lanczos_of_the_c_library((axis.first[x] + i - sampling.centre(x) + 0.5) *
                                                 (1.0 / sampling.stretch)));
        sum += exact.back();
      }
      for (int i = 0; i < axis.count[x]; ++i) {
        ASSERT_EQ(axis.weights[x * axis.stride + i], detail::fixed_weight(exact[i] / sum))
            << in << " to " << out << " from " << begin;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1'000'000);
}

// The SIMD versions split weights into parts that hold less than 2^23, and sums must stay within 32
// bits: the absolute weights of an output add up to less than 2.
TEST(ResizeWeights, StayFarFromTheLimitsOfThirtyTwoBits) {
  for (const ResizeFilter filter : {ResizeFilter::kBox, ResizeFilter::kBilinear,
                                    ResizeFilter::kBicubic, ResizeFilter::kLanczos}) {
    for (int in = 1; in <= 24; ++in) {
      for (const int out : {1, 2, 3, 7, 50, 1000}) {
        const ResizeAxis axis = weights_of(in, out, 0, in, filter);
        for (int x = 0; x < out; ++x) {
          double sum = 0;
          for (int i = 0; i < axis.stride; ++i) sum += std::abs(axis.weights[x * axis.stride + i]);
          ASSERT_LE(sum, 1.7 * (1 << detail::kWeightOneBits)) << in << " to " << out;
        }
      }
    }
  }
}

}  // namespace
}  // namespace stoker
