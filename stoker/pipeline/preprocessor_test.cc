#include "stoker/pipeline/preprocessor.h"

#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"
#include "stoker/pipeline/feed.h"

namespace stoker {
namespace {

using test::random_image;
using Made = std::vector<std::byte>;

// Three images of different sizes and kinds.
class PhotoFolder {
 public:
  PhotoFolder() {
    add("a.png", encode_png(random_image({.height = 40, .width = 31, .channels = 3}, 1).view()));
    add("b.png", encode_png(random_image({.height = 64, .width = 90, .channels = 1}, 2).view()));
    add("c.jpg",
        encode_jpeg(random_image({.height = 50, .width = 50, .channels = 3}, 3).view(), 90));
  }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }

 private:
  void add(const char* name, const std::vector<std::byte>& bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    paths_.push_back(folder_.write(name, Bytes(data, data + bytes.size())).string());
  }
  TempFolder folder_;
  std::vector<std::string> paths_;
};

// What a feed makes of the folder's images.
std::vector<Made> made_by_feed(const PhotoFolder& folder, const PreprocessOptions& wanted,
                               const std::string& policy) {
  const auto source = std::make_shared<FolderSource>(
      list_images(folder.root()),
      FolderOptions{
          .channels = wanted.image.channels, .depth = wanted.image.depth, .window = wanted.window});
  Feed feed(source, Policy::parse(policy),
            {.workers = 1,
             .batch_size = 1,
             .shuffle = false,
             .pixel_type = wanted.pixel_type,
             .normalisation = wanted.normalisation,
             .channels_last = wanted.channels_last});
  std::vector<Made> all;
  while (const auto batch = feed.next()) {
    all.emplace_back(batch->pixels().begin(), batch->pixels().end());
  }
  return all;
}

Made made(const Preprocessor& preprocessor, const std::string& path) {
  Made out(preprocessor.output_bytes());
  preprocessor.file(out, path);
  return out;
}

const Normalisation kNormalisation =
    from_mean_and_deviation({0.4, 0.5, 0.6, 0.5}, {0.2, 0.3, 0.4, 1});

TEST(Preprocessor, EqualsTheFeed) {
  const PhotoFolder folder;
  const std::string framing = "resize_crop(36,24)";
  for (const PixelType type : {PixelType::kU8, PixelType::kF32}) {
    for (const bool channels_last : {false, true}) {
      for (const int channels : {1, 3, 4}) {
        const PreprocessOptions options{.image = {.height = 24, .width = 24, .channels = channels},
                                        .framing = framing,
                                        .normalisation = kNormalisation,
                                        .pixel_type = type,
                                        .channels_last = channels_last};
        const Preprocessor preprocessor(options);
        const std::vector<Made> expected = made_by_feed(folder, options, framing);
        ASSERT_EQ(expected.size(), 3U);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_EQ(made(preprocessor, folder.paths()[i]), expected[i]) << i << channels;
        }
      }
    }
  }
}

TEST(Preprocessor, EqualsTheFeedForValuesOf16Bits) {
  const PhotoFolder folder;
  const PreprocessOptions options{.image = {.height = 9, .width = 8, .channels = 1, .depth = 16},
                                  .framing = "resize(9,8)",
                                  .normalisation = kNormalisation,
                                  .window = ValueWindow{.low = 100, .high = 40'000}};
  const Preprocessor preprocessor(options);
  const std::vector<Made> expected = made_by_feed(folder, options, options.framing);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(made(preprocessor, folder.paths()[i]), expected[i]);
  }
}

TEST(Preprocessor, MakesTheSameOfPixelsAsOfTheirFile) {
  for (const int from : {1, 3}) {
    const Image image = random_image({.height = 40, .width = 31, .channels = from}, 5);
    for (const int to : {1, 3}) {
      const Preprocessor preprocessor({.image = {.height = 20, .width = 20, .channels = to},
                                       .framing = "resize_crop(22,20)",
                                       .normalisation = kNormalisation});
      Made of_pixels(preprocessor.output_bytes()), of_file(preprocessor.output_bytes());
      preprocessor.pixels(of_pixels, image.view());
      preprocessor.encoded(of_file, encode_png(image.view()));
      EXPECT_EQ(of_pixels, of_file) << from << " to " << to;
    }
  }
}

TEST(Preprocessor, WithoutAFramingLeavesImagesOfTheSizeAsTheyAre) {
  const Image image = random_image({.height = 28, .width = 28, .channels = 1}, 6);
  const Preprocessor preprocessor({.image = image.shape(), .pixel_type = PixelType::kU8});
  Made out(preprocessor.output_bytes());
  preprocessor.encoded(out, encode_png(image.view()));
  EXPECT_EQ(std::memcmp(out.data(), image.view().data, out.size()), 0);
  // Others are resized.
  preprocessor.encoded(out, encode_png(random_image({.height = 31, .width = 9}, 6).view()));
}

TEST(Preprocessor, NamesWhatItCannotUse) {
  const Preprocessor preprocessor(
      {.image = {.height = 8, .width = 8, .channels = 3}, .limits = {.max_pixels = 1000}});
  Made out(preprocessor.output_bytes());
  const auto message_of = [&](const auto& use) -> std::string {
    try {
      use();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::vector<std::byte> large =
      encode_png(random_image({.height = 40, .width = 40, .channels = 3}, 1).view());
  EXPECT_THAT(message_of([&] { preprocessor.encoded(out, large, "large.png"); }),
              testing::AllOf(testing::HasSubstr("large.png"), testing::HasSubstr("40x40")));
  EXPECT_THAT(message_of([&] { preprocessor.encoded(out, {}, "empty.png"); }),
              testing::HasSubstr("empty.png"));
  EXPECT_THAT(message_of([&] { preprocessor.file(out, "/nowhere/x.png"); }),
              testing::HasSubstr("/nowhere/x.png"));
  const Image image = random_image({.height = 40, .width = 40, .channels = 3}, 1);
  EXPECT_THAT(message_of([&] { preprocessor.pixels(out, image.view()); }),
              testing::HasSubstr("40 x 40"));
  ImageView narrow = image.view();
  narrow.shape = {.height = 4, .width = 4, .channels = 3};
  narrow.bytes_per_row = 11;
  EXPECT_THAT(message_of([&] { preprocessor.pixels(out, narrow); }), testing::HasSubstr("12"));
}

TEST(Preprocessor, RefusesOptionsThatContradictEachOther) {
  EXPECT_THROW(Preprocessor({.image = {.height = 8, .width = 8}, .framing = "resize(9,9)"}), Error);
  EXPECT_THROW(Preprocessor({.image = {.height = 8, .width = 8}, .framing = "resze(9,9)"}), Error);
  EXPECT_THROW(Preprocessor({.image = {.height = 0, .width = 8}}), Error);
  EXPECT_THROW(Preprocessor({.image = {.height = 8, .width = 8}, .window = ValueWindow{}}), Error);
  EXPECT_THROW(Preprocessor({.image = {.height = 8, .width = 8, .channels = 1, .depth = 16},
                             .pixel_type = PixelType::kU8}),
               Error);
}

TEST(Preprocessor, GivesSixteenThreadsTheSame) {
  const PhotoFolder folder;
  const Preprocessor preprocessor(
      {.image = {.height = 24, .width = 24, .channels = 3}, .framing = "resize_crop(36,24)"});
  const Made expected = made(preprocessor, folder.paths()[2]);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          if (made(preprocessor, folder.paths()[2]) != expected) ++wrong;
          Made out(preprocessor.output_bytes());
          try {
            preprocessor.encoded(out, {});
            ++wrong;
          } catch (const Error&) {
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace stoker
