#include "stoker/data/sources/encoded_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/data/test_images.h"

namespace stoker {
namespace {

// PNG files in memory, given without a copy, or copied into the reader's buffer.
class FilesInMemory final : public EncodedSource {
 public:
  explicit FilesInMemory(std::vector<Bytes> files, bool copies = false)
      : files_(std::move(files)), copies_(copies) {}

  [[nodiscard]] std::uint64_t size() const override { return files_.size(); }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return classes_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return fmt::format("memory#{}", index);
  }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index, SampleBuffer&) const override {
    return static_cast<std::int64_t>(index % 2);
  }
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override {
    const auto bytes = std::as_bytes(std::span(files_.at(index)));
    if (!copies_) return bytes;
    const std::span<std::byte> out = room(bytes.size());
    std::ranges::copy(bytes, out.begin());
    return std::span<const std::byte>(out);
  }

 private:
  std::vector<Bytes> files_;
  bool copies_;
  std::vector<std::string> classes_{"even", "odd"};
};

std::vector<std::uint8_t> encoded_pixels(const ImageView& image) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < image.shape.height; ++y) {
    pixels.insert(pixels.end(), image.row(y), image.row(y) + image.shape.bytes_per_row());
  }
  return pixels;
}

TEST(EncodedSource, GivesTheImagesOfTheirBytes) {
  const Image first = test::scene(1, 12, 8), second = test::scene(2, 12, 8);
  for (const bool copies : {false, true}) {
    const FilesInMemory source({test::png_of(first), test::png_of(second)}, copies);
    EXPECT_EQ(source.shape(), first.shape());
    SampleBuffer buffer;
    const Sample sample = source.read(1, buffer).value();
    EXPECT_EQ(sample.label, 1);
    EXPECT_EQ(encoded_pixels(sample.image), encoded_pixels(second.view()));
  }
}

TEST(EncodedSource, ViewsOfASampleAreThoseOfItAlone) {
  const Policy policy = Policy::parse("random_resized_crop(16)");
  const std::vector<Bytes> files = {test::png_of(test::scene(1)), test::png_of(test::scene(2))};
  for (const bool copies : {false, true}) {
    const FilesInMemory source(files, copies);
    SampleBuffer buffer, other;
    for (std::uint64_t index = 0; index < 2; ++index) {
      const std::vector<SampleKey> keys = {{.seed = 1, .sample = index},
                                           {.seed = 2, .sample = index}};
      static_cast<void>(source
                            .read_framed(index,
                                         {.framing = policy.framing(),
                                          .key = keys[0],
                                          .later = std::span(keys).subspan(1)},
                                         buffer)
                            .value());
      const Sample again =
          source
              .read_framed(index, {.framing = policy.framing(), .key = keys[1], .again = true},
                           buffer)
              .value();
      const Sample alone =
          source.read_framed(index, {.framing = policy.framing(), .key = keys[1]}, other).value();
      EXPECT_EQ(encoded_pixels(again.image), encoded_pixels(alone.image));
    }
  }
}

// Bytes of pixels instead of files.
class DecodedInMemory final : public EncodedSource {
 public:
  explicit DecodedInMemory(Image image) : image_(std::move(image)) {}
  [[nodiscard]] std::uint64_t size() const override { return 1; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return classes_; }
  [[nodiscard]] std::string sample_name(std::uint64_t) const override { return "pixels"; }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t, SampleBuffer&) const override {
    return std::int64_t{0};
  }
  [[nodiscard]] Result<Sample> decode(std::uint64_t, std::span<const std::byte>,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override {
    return Sample{.image = frame_image(image_.view(), request, buffer).value(), .label = 0};
  }

 private:
  Image image_;
  std::vector<std::string> classes_;
};

TEST(EncodedSource, PixelsAreFramedAsFilesAre) {
  const FilesInMemory files({test::png_of(test::scene(1))});
  const DecodedInMemory pixels(test::scene(1));
  const Policy policy = Policy::parse("random_resized_crop(16)");
  SampleBuffer buffer, other;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const FrameRequest request{.framing = policy.framing(), .key = {.seed = seed}};
    const Sample expected = files.read_framed(0, request, buffer).value();
    const Sample framed = pixels.read_framed(0, request, other).value();
    EXPECT_EQ(encoded_pixels(framed.image), encoded_pixels(expected.image)) << seed;
  }
}

TEST(EncodedSource, AnotherSizeNeedsAPolicyThatSetsIt) {
  const FilesInMemory source(
      {test::png_of(test::scene(1, 12, 8)), test::png_of(test::scene(2, 9, 8))});
  EXPECT_EQ(source.shape().width, 12);
  SampleBuffer buffer;
  const auto sample = source.read(1, buffer);
  ASSERT_FALSE(sample);
  EXPECT_THAT(to_string(sample.error()),
              testing::AllOf(testing::HasSubstr("memory#1"), testing::HasSubstr("9 x 8 pixels")));
  const Policy policy = Policy::parse("resize(4,4)");
  EXPECT_TRUE(source.read_framed(1, {.framing = policy.framing(), .key = {}}, buffer));
}

TEST(EncodedSource, ABrokenImageIsNamed) {
  const FilesInMemory source({Bytes{1, 2, 3}});
  SampleBuffer buffer;
  const Policy policy = Policy::parse("resize(4,4)");
  const auto sample = source.read_framed(0, {.framing = policy.framing(), .key = {}}, buffer);
  ASSERT_FALSE(sample);
  EXPECT_THAT(to_string(sample.error()), testing::HasSubstr("memory#0"));
  EXPECT_THROW(static_cast<void>(source.shape()), Error);
}

}  // namespace
}  // namespace stoker
