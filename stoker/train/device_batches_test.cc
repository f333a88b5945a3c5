#include "stoker/train/device_batches.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/data/sources/folder_source.h"
#include "stoker/pipeline/test_sources.h"

namespace stoker {
namespace {

const Normalisation kNormalisation =
    from_mean_and_deviation({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225});

struct Taken {
  std::vector<at::Tensor> pixels, labels;
  std::vector<std::uint64_t> numbers;
};

Taken take_all(PixelType type, ImageShape shape) {
  Feed feed(std::make_shared<test::MadeUpSource>(50, shape), Policy(),
            {.workers = 2,
             .batch_size = 8,
             .epochs = 2,
             .seed = 3,
             .pixel_type = type,
             .normalisation = kNormalisation});
  DeviceBatches batches(feed, at::kCPU, kNormalisation);
  Taken taken;
  while (const auto batch = batches.next()) {
    taken.pixels.push_back(batch->values.clone());
    taken.labels.push_back(batch->labels.clone());
    taken.numbers.push_back(batch->number);
  }
  return taken;
}

// The way of a batch to a GPU, made of bytes that are normalised there, on the CPU as the device:
// every bit must be what the feed's own normalisation gives.
TEST(DeviceBatches, BytesNormalisedOnTheDeviceAreTheFeedsFloats) {
  for (const int channels : {1, 3}) {
    const ImageShape shape = {.height = 9, .width = 20, .channels = channels};
    const Taken floats = take_all(PixelType::kF32, shape), bytes = take_all(PixelType::kU8, shape);
    ASSERT_EQ(floats.numbers.size(), 14U);
    ASSERT_EQ(floats.numbers, bytes.numbers);
    for (std::size_t i = 0; i < floats.numbers.size(); ++i) {
      EXPECT_EQ(floats.numbers[i], i);
      EXPECT_TRUE(at::equal(floats.pixels[i], bytes.pixels[i]));
      EXPECT_TRUE(at::equal(floats.labels[i], bytes.labels[i]));
    }
  }
}

TEST(DeviceBatches, OnACpuNothingIsCopied) {
  Feed feed(std::make_shared<test::MadeUpSource>(16), Policy(), {.workers = 1, .batch_size = 8});
  DeviceBatches batches(feed, at::kCPU, {});
  const auto batch = batches.next();
  ASSERT_TRUE(batch);
  EXPECT_FALSE(batch->values.storage().resizable()) << "memory of its own";
  EXPECT_GT(batches.waited_seconds(), 0);
}

TEST(DeviceBatches, AGpuGetsBytesFromPinnedMemory) {
  FeedOptions options;
  const test::MadeUpSource source(16);
  prepare_feed_for(at::Device(at::kCUDA, 0), source, options);
  EXPECT_EQ(options.pixel_type, PixelType::kU8);
  prepare_feed_for(at::kCPU, source, options);
  EXPECT_EQ(options.pixel_type, PixelType::kF32);
}

TEST(DeviceBatches, AGpuGetsFloatsOfSixteenBits) {
  FeedOptions options;
  const FolderSource source({}, {.depth = 16});
  prepare_feed_for(at::Device(at::kCUDA, 0), source, options);
  EXPECT_EQ(options.pixel_type, PixelType::kF32);
}

}  // namespace
}  // namespace stoker
