#include "stoker/doctor/perceptual_hash.h"

#include <bit>

#include <gtest/gtest.h>

#include "stoker/data/test_images.h"
#include "stoker/doctor/hamming_index.h"

namespace stoker {
namespace {

ImageSketch sketch(const Image& image) {
  ResizeScratch scratch;
  return sketch_of(image.view(), scratch);
}

int distance(const Image& a, const Image& b) {
  return hamming_distance(sketch(a).hash, sketch(b).hash);
}

TEST(PerceptualHash, SurvivesResizing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Image image = test::scene(seed, 320, 240);
    for (const auto& [width, height] : {std::pair{160, 120}, {97, 61}, {640, 500}}) {
      const Image other = test::resized(image, width, height);
      EXPECT_LE(distance(image, other), 4) << seed << ", " << width;
      EXPECT_TRUE(look_alike(sketch(image), sketch(other)));
    }
  }
}

TEST(PerceptualHash, SurvivesBrightnessAndContrast) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Image image = test::scene(seed);
    const Image other = test::changed(image, 70, 30);
    EXPECT_LE(distance(image, other), 4) << seed;
    EXPECT_TRUE(look_alike(sketch(image), sketch(other)));
  }
}

TEST(PerceptualHash, TellsScenesApart) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    EXPECT_GT(distance(test::scene(seed), test::scene(seed + 1)), 12) << seed;
    EXPECT_FALSE(look_alike(sketch(test::scene(seed)), sketch(test::scene(seed + 1))));
  }
}

// The median splits the frequencies into halves, so that no bit is wasted.
TEST(PerceptualHash, HasAsManyOnesAsZeros) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(std::popcount(sketch(test::scene(seed)).hash), 32);
  }
}

// A wave of one frequency along x sets the bit of that frequency and leaves the other 63 near zero.
TEST(PerceptualHash, BitsAreFrequencies) {
  Image image({.height = 64, .width = 64});
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) image.view().row(y)[x] = static_cast<std::uint8_t>(255 - 4 * x);
  }
  const std::uint64_t falling = sketch(image).hash;
  const std::uint64_t rising = sketch(test::mirrored(image)).hash;
  EXPECT_EQ(falling >> 1 & 1, 1U);  // places 0 and 1 are (v, u) = (1, 0) and (0, 1)
  EXPECT_EQ(rising >> 1 & 1, 0U);
}

TEST(PerceptualHash, GreyAndColourOfTheSameImageAgree) {
  const Image grey = test::scene(3, 96, 72, 1);
  Image colour({.height = 72, .width = 96, .channels = 3});
  for (std::size_t i = 0; i < colour.shape().bytes(); ++i) {
    colour.view().data[i] = grey.view().data[i / 3];
  }
  EXPECT_LE(distance(grey, colour), 2);
  EXPECT_TRUE(look_alike(sketch(grey), sketch(colour)));
}

TEST(PerceptualHash, KnowsItsMirrorImage) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ImageSketch image = sketch(test::scene(seed));
    const ImageSketch other = sketch(test::mirrored(test::scene(seed)));
    EXPECT_LE(hamming_distance(image.mirrored_hash, other.hash), 2) << seed;
    EXPECT_TRUE(look_mirrored(image, other));
    EXPECT_FALSE(look_alike(image, other));
  }
}

TEST(LookAlike, FlatImagesMatchOnlyEachOther) {
  const Image grey = test::changed(test::scene(1), 0, 100), white = test::changed(grey, 0, 255);
  EXPECT_TRUE(look_alike(sketch(grey), sketch(white)));
  EXPECT_FALSE(look_alike(sketch(grey), sketch(test::scene(1))));
}

TEST(LookAlike, NegativesAreNotAlike) {
  Image negative = test::scene(1);
  for (std::size_t i = 0; i < negative.shape().bytes(); ++i) negative.view().data[i] ^= 255;
  EXPECT_FALSE(look_alike(sketch(test::scene(1)), sketch(negative)));
}

TEST(PerceptualHash, TakesImagesOfOnePixel) {
  EXPECT_EQ(sketch(Image({.height = 1, .width = 1})).rgb[767], 0);
  EXPECT_EQ(sketch(test::changed(test::scene(2, 1, 300), 0, 9)).rgb[0], 9);
}

}  // namespace
}  // namespace stoker
