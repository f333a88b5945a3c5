#include "stoker/kernels/normalise/normalise.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

class NormaliseEveryVersion : public testing::Test {
 protected:
  ~NormaliseEveryVersion() override { force_simd("auto"); }
};

TEST_F(NormaliseEveryVersion, EqualsTheReferenceInEveryBit) {
  const Normalisation imagenet =
      from_mean_and_deviation({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225});
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int channels : {1, 3}) {
      for (int width = 1; width <= 70; ++width) {
        Image image({.height = 5, .width = width + 2, .channels = channels});
        for (std::size_t i = 0; i < image.shape().bytes(); ++i) {
          image.view().data[i] = static_cast<std::uint8_t>(i * 7 + width);  // all 256 values
        }
        for (const bool gaps : {false, true}) {
          ImageView view = image.view();
          if (gaps) view.shape.width = width;
          std::vector<float> expected(view.shape.bytes()), actual(view.shape.bytes());
          normalise_reference(expected.data(), view, imagenet);
          normalise(actual.data(), view, imagenet);
          ASSERT_EQ(std::memcmp(actual.data(), expected.data(), expected.size() * sizeof(float)), 0)
              << name << " " << channels << " " << width;
        }
      }
    }
  }
}

TEST_F(NormaliseEveryVersion, ChannelsLastHasTheNumbersOfTheReferenceAndOfThePlanes) {
  const Normalisation own =
      from_mean_and_deviation({0.485, 0.456, 0.406, 0.5}, {0.2, 0.3, 0.4, 0.5});
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int channels : {1, 3, 4}) {
      for (int width = 1; width <= 70; ++width) {
        Image image({.height = 5, .width = width + 2, .channels = channels});
        for (std::size_t i = 0; i < image.shape().bytes(); ++i) {
          image.view().data[i] = static_cast<std::uint8_t>(i * 7 + width);
        }
        for (const bool gaps : {false, true}) {
          ImageView view = image.view();
          if (gaps) view.shape.width = width;
          const std::size_t values = view.shape.bytes(), pixels = values / channels;
          std::vector<float> expected(values), actual(values), planes(values);
          normalise_channels_last_reference(expected.data(), view, own);
          normalise_channels_last(actual.data(), view, own);
          ASSERT_EQ(std::memcmp(actual.data(), expected.data(), values * sizeof(float)), 0)
              << name << " " << channels << " " << width;
          normalise_reference(planes.data(), view, own);
          for (std::size_t i = 0; i < values; ++i) {
            ASSERT_EQ(actual[i], planes[i % channels * pixels + i / channels]);
          }
        }
      }
    }
  }
}

TEST(Normalise, DefaultMapsBytesOntoZeroToOne) {
  Image image({.height = 1, .width = 2});
  image.view().data[1] = 255;
  std::vector<float> out(2);
  normalise(out.data(), image.view(), {});
  EXPECT_EQ(out[0], 0.0F);
  EXPECT_FLOAT_EQ(out[1], 1.0F);
}

TEST(Normalise, PutsColoursIntoPlanes) {
  Image image({.height = 1, .width = 2, .channels = 3});
  for (std::uint8_t i = 0; i < 6; ++i) image.view().data[i] = i;
  std::vector<float> out(6);
  normalise(out.data(), image.view(), {.scale = {1, 1, 1}, .offset = {0, 0, 100}});
  EXPECT_EQ(out, (std::vector<float>{0, 3, 1, 4, 102, 105}));
}

}  // namespace
}  // namespace stoker
