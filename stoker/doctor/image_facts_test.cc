#include "stoker/doctor/image_facts.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "stoker/data/test_images.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

class ImageFactsTest : public ::testing::Test {
 protected:
  ImageFacts examine(const Bytes& bytes, const DecodeLimits& limits = {}) {
    return ImageExaminer(limits).examine(folder_.write("image", bytes));
  }
  TempFolder folder_;
};

TEST_F(ImageFactsTest, AWholeImageIsDecoded) {
  const ImageFacts facts = examine(test::make_jpeg(60, 40, {}));
  EXPECT_EQ(facts.state, DecodeState::kDecoded);
  EXPECT_EQ(facts.format, ImageFormat::kJpeg);
  EXPECT_EQ(facts.header->width, 60);
  EXPECT_EQ(facts.reason, "");
  EXPECT_FALSE(facts.blank);
}

TEST_F(ImageFactsTest, ACutFileIsTruncatedWithAReason) {
  for (Bytes bytes : {test::make_jpeg(60, 40, {}), test::make_webp(60, 40, true),
                      test::make_png({.height = 40, .width = 60, .channels = 3})}) {
    bytes.resize(bytes.size() * 2 / 3);
    const ImageFacts facts = examine(bytes);
    EXPECT_EQ(facts.state, DecodeState::kTruncated);
    EXPECT_THAT(facts.reason, HasSubstr("cut short"));
    EXPECT_EQ(facts.pixel_digest, "");
  }
}

TEST_F(ImageFactsTest, DamageInTheMiddleIsUnreadable) {
  Bytes bytes = test::make_png({.height = 40, .width = 60, .channels = 3});
  bytes[bytes.size() / 2] ^= 0x55;
  const ImageFacts facts = examine(bytes);
  EXPECT_EQ(facts.state, DecodeState::kUnreadable);
  EXPECT_THAT(facts.reason, HasSubstr("PNG"));
  EXPECT_THAT(facts.reason, HasSubstr("byte"));
}

TEST_F(ImageFactsTest, OtherContentIsNamed) {
  EXPECT_EQ(examine({}).reason, "an empty file");
  EXPECT_EQ(examine({'G', 'I', 'F', '8', '9', 'a'}).reason, "a GIF image");
  EXPECT_EQ(examine({1, 2, 3}).reason, "none of JPEG, PNG, WebP, TIFF, BMP, PNM");
}

TEST_F(ImageFactsTest, LimitsRefuseBeforeDecoding) {
  const Bytes bytes = test::make_jpeg(60, 40, {});
  EXPECT_EQ(examine(bytes, {.max_pixels = 2400}).state, DecodeState::kDecoded);
  const ImageFacts facts = examine(bytes, {.max_pixels = 2399});
  EXPECT_EQ(facts.state, DecodeState::kTooLarge);
  EXPECT_THAT(facts.reason, HasSubstr("60x40"));
  EXPECT_THAT(facts.reason, HasSubstr("2399"));
  EXPECT_EQ(examine(bytes, {.max_side = 59}).state, DecodeState::kTooLarge);
}

TEST_F(ImageFactsTest, EqualPixelsHaveEqualDigestsWhateverTheFormat) {
  const Bytes webp = test::make_webp(60, 40, true);
  const ImageFacts a = examine(webp), b = examine(test::png_of(test::decode_all(webp)));
  EXPECT_EQ(a.pixel_digest, b.pixel_digest);
  EXPECT_NE(a.file_digest, b.file_digest);
  EXPECT_EQ(a.sketch, b.sketch);
}

// 60x40 and 40x60 pixels of one colour are the same bytes in memory.
TEST_F(ImageFactsTest, TheShapeBelongsToThePixels) {
  const Image wide({.height = 40, .width = 60, .channels = 3});
  const Image tall({.height = 60, .width = 40, .channels = 3});
  EXPECT_NE(examine(test::png_of(wide)).pixel_digest, examine(test::png_of(tall)).pixel_digest);
}

TEST_F(ImageFactsTest, OneColourIsBlankAndOneOtherPixelIsNot) {
  Image image = test::changed(test::scene(1), 0, 200);
  EXPECT_TRUE(examine(test::png_of(image)).blank);
  image.view().row(71)[3 * 95 + 2] = 201;
  EXPECT_FALSE(examine(test::png_of(image)).blank);
  EXPECT_TRUE(examine(test::png_of(Image({.height = 1, .width = 1}))).blank);
}

TEST_F(ImageFactsTest, FilesThatCannotBeReadSayWhy) {
  ImageExaminer examiner;
  EXPECT_THAT(examiner.examine(folder_.path() / "gone").reason, HasSubstr("No such file"));
  EXPECT_THAT(examiner.examine(folder_.path()).reason, HasSubstr("not a regular file"));
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(examiner.examine(folder_.path() / "pipe").reason, HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace stoker
