#include "stoker/image/image.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

// Memory of `height` rows, each `gap` bytes longer than its pixels need, counting 0, 1, 2, …
struct GappedImage {
  GappedImage(const ImageShape& image_shape, std::size_t gap)
      : shape(image_shape),
        bytes_per_row(image_shape.bytes_per_row() + gap),
        memory(bytes_per_row * static_cast<std::size_t>(image_shape.height)) {
    std::iota(memory.begin(), memory.end(), std::uint8_t{0});
  }
  MutableImageView view() { return {memory.data(), shape, bytes_per_row}; }

  ImageShape shape;
  std::size_t bytes_per_row;
  std::vector<std::uint8_t> memory;
};

TEST(ImageShape, CountsBytesBeyondThirtyTwoBits) {
  const ImageShape shape{kMaxSide, kMaxSide, 3};
  EXPECT_EQ(shape.bytes_per_row(), std::size_t{3} << 20);
  EXPECT_EQ(shape.bytes(), std::size_t{3} << 40);
}

TEST(CheckShape, AcceptsTheLimitsThemselves) {
  EXPECT_NO_THROW(check_shape({1, 1, 1}));
  EXPECT_NO_THROW(check_shape({kMaxSide, kMaxSide, 3}));
  EXPECT_NO_THROW(check_shape({4, 4, 4}));
  EXPECT_NO_THROW(check_shape({4, 4, 1, 16}));
}

TEST(CheckShape, RefusesSidesAndChannelsOutsideTheLimits) {
  for (const ImageShape& shape :
       {ImageShape{0, 1, 1}, ImageShape{1, 0, 1}, ImageShape{-1, 4, 1}, ImageShape{4, -1, 1},
        ImageShape{kMaxSide + 1, 1, 1}, ImageShape{1, kMaxSide + 1, 1}, ImageShape{4, 4, 0},
        ImageShape{4, 4, 2}, ImageShape{4, 4, 5}, ImageShape{4, 4, 1, 12}}) {
    EXPECT_THROW(check_shape(shape), Error)
        << shape.height << "x" << shape.width << "x" << shape.channels;
  }
}

TEST(CheckShape, SaysWhatItFound) {
  try {
    check_shape({2, 3, 5});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.details().found, "2x3 with 5 channels of 8 bits");
  }
}

TEST(ImageShape, CountsBytesOfWideImages) {
  const ImageShape shape{.height = 2, .width = 5, .channels = 4, .depth = 16};
  EXPECT_TRUE(shape.wide());
  EXPECT_EQ(shape.values(), 40U);
  EXPECT_EQ(shape.bytes_per_pixel(), 8U);
  EXPECT_EQ(shape.bytes_per_row(), 40U);
  EXPECT_EQ(shape.bytes(), 80U);
  EXPECT_FALSE((ImageShape{2, 5, 3}).wide());
  EXPECT_TRUE((ImageShape{2, 5, 4}).wide());
  EXPECT_NE((ImageShape{2, 5, 1}), (ImageShape{2, 5, 1, 16}));
}

TEST(Image, NarrowedIsWhatCanBeShown) {
  Image wide({1, 2, 4, 16});
  const std::array<std::uint16_t, 8> values = {0x1234, 0xFF00, 0x00FF, 0xFFFF, 9, 9, 9, 0};
  std::copy(values.begin(), values.end(), wide.view().values<std::uint16_t>(0));
  const Image narrow = narrowed(wide.view());
  EXPECT_EQ(narrow.shape(), (ImageShape{1, 2, 3}));
  EXPECT_EQ(narrow.at(0, 0, 0), 0x12);
  EXPECT_EQ(narrow.at(0, 0, 1), 0xFF);
  EXPECT_EQ(narrow.at(0, 0, 2), 0);
  EXPECT_EQ(narrow.at(0, 1, 1), 255) << "transparent, over white";
}

TEST(RefuseWide, NamesWhatIsTooMuch) {
  EXPECT_NO_THROW(refuse_wide({2, 5, 3}, "blur"));
  const auto what = [](const ImageShape& shape) {
    return error_of([&] { refuse_wide(shape, "blur"); }).what;
  };
  EXPECT_EQ(what({2, 5, 3, 16}), "blur works on 8-bit images");
  EXPECT_EQ(what({2, 5, 4}), "blur works on 1 or 3 channels");
}

TEST(Image, StartsBlackAndContiguous) {
  const Image image(ImageShape{2, 3, 3});
  EXPECT_TRUE(image.view().contiguous());
  EXPECT_EQ(image.view().bytes_per_row, 9U);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) {
      for (int channel = 0; channel < 3; ++channel) EXPECT_EQ(image.at(y, x, channel), 0);
    }
  }
}

TEST(Image, RefusesAShapeBeforeTakingMemory) {
  EXPECT_THROW(Image(ImageShape{kMaxSide + 1, kMaxSide, 3}), Error);
  EXPECT_THROW(Image(ImageShape{3, 3, 2}), Error);
}

TEST(Image, CopiesAViewWithGapsBetweenRows) {
  GappedImage source({3, 2, 3}, 5);
  const Image copy(source.view());
  EXPECT_EQ(copy.shape(), source.shape);
  EXPECT_TRUE(copy.view().contiguous());
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 2; ++x) {
      for (int channel = 0; channel < 3; ++channel) {
        EXPECT_EQ(copy.at(y, x, channel), y * 11 + x * 3 + channel);
      }
    }
  }
}

TEST(Image, CopyOwnsItsPixels) {
  GappedImage source({1, 2, 1}, 0);
  const Image copy(source.view());
  source.memory[0] = 200;
  EXPECT_EQ(copy.at(0, 0), 0);
}

TEST(Image, ComparesShapeAndPixels) {
  Image one(ImageShape{2, 3, 1});
  Image other(ImageShape{2, 3, 1});
  EXPECT_EQ(one, other);
  EXPECT_NE(one, Image(ImageShape{3, 2, 1}));
  other.view().row(1)[2] = 1;
  EXPECT_NE(one, other);
}

TEST(Image, ReshapeKeepsMemoryThatSuffices) {
  Image image(ImageShape{8, 8, 3});
  const std::uint8_t* before = image.view().data;
  image.reshape({4, 4, 1});
  EXPECT_EQ(image.shape(), (ImageShape{4, 4, 1}));
  EXPECT_EQ(image.view().bytes_per_row, 4U);
  image.reshape({8, 8, 3});
  EXPECT_EQ(image.view().data, before);
}

TEST(Image, ReshapeToARefusedShapeLeavesTheImageAsItWas) {
  Image image(ImageShape{2, 2, 1});
  image.view().row(1)[1] = 9;
  const Image before = image;
  EXPECT_THROW(image.reshape({2, -2, 1}), Error);
  EXPECT_EQ(image, before);
}

TEST(CopyPixels, LeavesGapsBetweenOutputRowsAlone) {
  GappedImage in({3, 4, 1}, 0);
  GappedImage out({3, 4, 1}, 3);
  const std::vector<std::uint8_t> before = out.memory;
  copy_pixels(out.view(), in.view());
  for (std::size_t i = 0; i < out.memory.size(); ++i) {
    const std::size_t row = i / 7;
    const std::size_t column = i % 7;
    EXPECT_EQ(out.memory[i], column < 4 ? in.memory[row * 4 + column] : before[i]) << i;
  }
}

TEST(CopyPixels, CopiesBetweenEqualGaps) {
  GappedImage in({2, 2, 1}, 2);
  GappedImage out({2, 2, 1}, 2);
  out.memory.assign(out.memory.size(), 255);
  copy_pixels(out.view(), in.view());
  EXPECT_EQ(out.memory, (std::vector<std::uint8_t>{0, 1, 255, 255, 4, 5, 255, 255}));
}

TEST(CopyPixels, RefusesDifferentShapes) {
  GappedImage in({2, 3, 1}, 0);
  GappedImage out({3, 2, 1}, 0);
  EXPECT_THROW(copy_pixels(out.view(), in.view()), InvariantError);
}

}  // namespace
}  // namespace stoker
