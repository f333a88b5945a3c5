// Folders and shards of images with 16 bits or alpha: what is stored arrives, framed or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/joined_source.h"
#include "stoker/data/sources/subset.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"

namespace stoker {
namespace {

using testing::HasSubstr;

Bytes png_of(const Image& image) {
  const auto bytes = encode_png(image.view());
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

class WideFolder : public testing::Test {
 protected:
  WideFolder() {
    folder_.write("a/1.png", png_of(grey_));
    folder_.write("b/1.png", png_of(rgba_));
  }
  [[nodiscard]] std::shared_ptr<FolderSource> open(const FolderOptions& options) const {
    return std::make_shared<FolderSource>(list_images(folder_.path()), options);
  }
  [[nodiscard]] static Image read(const Source& source, std::uint64_t index,
                                  const Policy& policy = {}) {
    SampleBuffer buffer;
    const FrameRequest request{.framing = policy.framing(), .key = {.seed = 3}};
    return Image(source.read_framed(index, request, buffer).value().image);
  }

  TempFolder folder_;
  Image grey_ = test::random_image({20, 30, 1, 16}, 1);
  Image rgba_ = test::random_image({25, 18, 4, 16}, 2);
};

TEST_F(WideFolder, GivesWhatIsStored) {
  EXPECT_EQ(read(*open({.channels = 1, .depth = 16}), 0), grey_);
  EXPECT_EQ(read(*open({.channels = 4, .depth = 16}), 1), rgba_);
  EXPECT_EQ(read(*open({.channels = 1}), 0), narrowed(grey_.view()));
}

TEST_F(WideFolder, FramesAreResizedAtSixteenBits) {
  const auto source = open({.channels = 4, .depth = 16});
  const Policy policy = Policy::parse("resize(9,7)");
  const ImageShape shape = sample_shape(*source, policy);
  EXPECT_EQ(shape, (ImageShape{9, 7, 4, 16}));
  Image expected(shape);
  ResizeScratch scratch;
  resize(expected.view(), rgba_.view(), whole_image(rgba_.shape()), {}, scratch);
  EXPECT_EQ(read(*source, 1, policy), expected);
}

// A crop shows the same pixels whether the window is fixed or each image's own, which is then
// decoded whole.
TEST_F(WideFolder, WindowsAreThoseOfTheWholeImage) {
  std::uint16_t low = 65535, high = 0;
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 30; ++x) {
      low = std::min(low, grey_.view().values<std::uint16_t>(y)[x]);
      high = std::max(high, grey_.view().values<std::uint16_t>(y)[x]);
    }
  }
  const Policy crop = Policy::parse("random_resized_crop(6)");
  const ValueWindow fixed{.low = low, .high = high};
  const Image by_image =
      read(*open({.channels = 1, .depth = 16, .window = {{.of_image = true}}}), 0, crop);
  EXPECT_EQ(by_image, read(*open({.channels = 1, .depth = 16, .window = fixed}), 0, crop));
  EXPECT_NE(by_image, read(*open({.channels = 1, .depth = 16}), 0, crop));
}

TEST_F(WideFolder, ViewsAndJoinedSourcesKnowTheDepth) {
  const auto deep = open({.channels = 1, .depth = 16});
  EXPECT_EQ(Subset(deep, 1, 0).depth(), 16);
  EXPECT_EQ(JoinedSource({{"a", deep}, {"b", deep}}).depth(), 16);
  const std::string message = message_of([&] {
    JoinedSource({{"a", deep}, {"b", open({.channels = 1})}});
  });
  EXPECT_THAT(message, HasSubstr("values of 16 bits"));
}

TEST_F(WideFolder, RefusesWhatContradictsItself) {
  EXPECT_THAT(message_of([&] { (void)open({.window = ValueWindow{}}); }), HasSubstr("`depth` 16"));
  const auto source = open({.depth = 16});
  EXPECT_THAT(
      message_of([&] { (void)sample_shape(*source, Policy::parse("resize(8,8),hue(-0.1,0.1)")); }),
      HasSubstr("works on 8-bit images"));
}

}  // namespace
}  // namespace stoker
