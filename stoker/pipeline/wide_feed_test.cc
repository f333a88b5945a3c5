// Batches of images with 16 bits or four channels: the same for any number of workers, processes
// and instruction sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/simd.h"
#include "stoker/pipeline/feed.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr const char* kWidePolicy =
    "random_resized_crop(12),hflip(0.5),rotate(-15,15),noise(0.05),erase(0.5)";

class WideFeed : public testing::Test {
 protected:
  WideFeed() {
    for (int i = 0; i < 24; ++i) {
      const Image image = test::random_image({20 + i, 31 - i / 2, i % 3 == 0 ? 1 : 4, 16}, i);
      const auto bytes = encode_png(image.view());
      const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
      folder_.write("a/" + std::to_string(i) + ".png", {first, first + bytes.size()});
    }
  }
  [[nodiscard]] std::shared_ptr<FolderSource> open(const FolderOptions& options) const {
    return std::make_shared<FolderSource>(list_images(folder_.path()), options);
  }
  [[nodiscard]] static std::vector<std::byte> run(const std::shared_ptr<const Source>& source,
                                                  const FeedOptions& options) {
    std::vector<std::byte> all;
    Feed feed(source, Policy::parse(kWidePolicy), options);
    while (const auto batch = feed.next()) {
      all.insert(all.end(), batch->pixels().begin(), batch->pixels().end());
    }
    return all;
  }

  TempFolder folder_;
};

TEST_F(WideFeed, IsTheSameForWorkersProcessesAndInstructionSets) {
  for (const FolderOptions& images :
       {FolderOptions{.channels = 1, .depth = 16},
        FolderOptions{.channels = 4, .depth = 16, .window = {{.of_image = true}}},
        FolderOptions{.channels = 4}}) {
    const auto source = open(images);
    FeedOptions options{.workers = 1, .batch_size = 5, .epochs = 2, .seed = 6};
    const std::vector<std::byte> expected = run(source, options);
    EXPECT_EQ(expected.size(), std::size_t{2 * 24 * 12 * 12 * 4} * images.channels);
    for (const int workers : {2, 3}) {
      options.workers = workers;
      EXPECT_EQ(run(source, options), expected) << workers;
    }
    options.isolate = true;
    EXPECT_EQ(run(source, options), expected) << "processes";
    options.isolate = false;
    for (const auto& name : available_simd()) {
      force_simd(name);
      EXPECT_EQ(run(source, options), expected) << name;
    }
    force_simd("auto");
  }
}

TEST_F(WideFeed, FloatsAreTheValuesNormalised) {
  const auto source = open({.channels = 4, .depth = 16});
  const FeedOptions options{
      .workers = 1,
      .batch_size = 24,
      .shuffle = false,
      .normalisation = from_mean_and_deviation({0.2, 0.3, 0.4, 0.5}, {0.5, 0.6, 0.7, 0.8})};
  Feed feed(source, Policy::parse("resize(9,8)"), options);
  const auto batch = feed.next();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->image_shape(), (ImageShape{9, 8, 4, 16}));
  SampleBuffer buffer;
  const Policy policy = Policy::parse("resize(9,8)");
  for (std::uint32_t slot = 0; slot < 24; ++slot) {
    const auto sample =
        source->read_framed(slot, {.framing = policy.framing(), .key = {}}, buffer).value();
    std::vector<float> expected(sample.image.shape.values());
    normalise_reference(expected.data(), sample.image, options.normalisation);
    const auto found = batch->pixels_f32().subspan(slot * expected.size(), expected.size());
    ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << slot;
  }
}

TEST_F(WideFeed, BytesAreForEightBits) {
  FeedOptions options{.workers = 1, .batch_size = 4, .pixel_type = PixelType::kU8};
  const auto eight = run(open({.channels = 4}), options);
  EXPECT_EQ(eight.size(), std::size_t{24 * 12 * 12 * 4});
  const std::string message = message_of([&] { (void)run(open({.depth = 16}), options); });
  EXPECT_THAT(message, HasSubstr("cannot give batches of bytes"));
  EXPECT_THAT(message, HasSubstr("16 bits"));
}

TEST_F(WideFeed, RefusesAPolicyBeforeTheFirstSample) {
  const std::string message = message_of(
      [&] { Feed(open({.depth = 16}), Policy::parse("resize(8,8),equalize(1)"), {.workers = 1}); });
  EXPECT_THAT(message, HasSubstr("equalize(1) works on 8-bit images"));
}

}  // namespace
}  // namespace stoker
