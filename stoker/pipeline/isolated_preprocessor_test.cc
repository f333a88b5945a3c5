#include "stoker/pipeline/isolated_preprocessor.h"

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/image/jpeg.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"
#include "stoker/pipeline/test_threads.h"

namespace stoker {
namespace {

using namespace std::chrono_literals;

const PreprocessOptions kWanted{.image = {.height = 16, .width = 16, .channels = 3},
                                .framing = "resize_crop(20,16)"};

std::vector<std::byte> jpeg_of(std::uint64_t seed) {
  return encode_jpeg(test::random_image({.height = 30, .width = 41, .channels = 3}, seed).view(),
                     90);
}

TEST(IsolatedPreprocessor, GivesTheSameFromManyThreads) {
  const Preprocessor plain(kWanted);
  const IsolatedPreprocessor isolated(kWanted, {.decoders = 2});
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 10; ++i) {
          const std::vector<std::byte> file = jpeg_of(100 * t + i);
          std::vector<std::byte> expected(plain.output_bytes()), found(plain.output_bytes());
          plain.encoded(expected, file);
          isolated.encoded(found, file, "the image");
          if (expected != found) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST(IsolatedPreprocessor, NamesABadImageAndGoesOn) {
  const Preprocessor plain(kWanted);
  const IsolatedPreprocessor isolated(kWanted, {.decoders = 1});
  std::vector<std::byte> out(plain.output_bytes()), expected(plain.output_bytes());
  const std::vector<std::byte> good = jpeg_of(1);
  plain.encoded(expected, good);
  for (int i = 0; i < 20; ++i) {
    std::vector<std::byte> bad = good;
    bad.resize(bad.size() / 2);
    try {
      isolated.encoded(out, bad, "half.jpg");
      ADD_FAILURE() << "half of a file was decoded";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("half.jpg"));
      EXPECT_THAT(error.what(), testing::HasSubstr("cut short"));
    }
    isolated.encoded(out, good, "the image");
    EXPECT_EQ(out, expected);
  }
  EXPECT_THROW(isolated.encoded(out, {}, "the image"), Error);
}

TEST(IsolatedPreprocessor, EndsADecoderThatTakesTooLong) {
  // A bomb: few bytes, and several times as long to decode as the limit.
  const std::vector<std::byte> large =
      encode_png(Image({.height = 13'000, .width = 13'000}).view());
  const IsolatedPreprocessor isolated(kWanted, {.decoders = 1, .limits = {.sample_time = 250ms}});
  std::vector<std::byte> out(16 * 16 * 3 * sizeof(float));
  EXPECT_THROW(isolated.encoded(out, large, "the image"), Error);
  // Another has taken its place.
  isolated.encoded(out, jpeg_of(1), "the image");
}

TEST(IsolatedPreprocessor, GivesUpAtTheDeadlineWhereNoDecoderIsFree) {
  const IsolatedPreprocessor isolated(kWanted, {.decoders = 1});
  const std::vector<std::byte> large =
      encode_png(test::random_image({.height = 2000, .width = 2000, .channels = 3}, 1).view());
  std::vector<std::byte> out(16 * 16 * 3 * sizeof(float)), other = out;
  std::atomic<bool> begun{false};
  std::jthread slow([&] {
    begun = true;
    isolated.encoded(other, large, "the image");
  });
  while (!begun.load()) std::this_thread::yield();
  std::this_thread::sleep_for(5ms);
  EXPECT_THROW(isolated.encoded(out, large, "the image", IsolatedPreprocessor::Clock::now()),
               DecodersBusy);
}

TEST(IsolatedPreprocessor, StartsAnotherDecoderAfterOneThatCannotGoOn) {
  const IsolatedPreprocessor isolated(kWanted, {.decoders = 1});
  const std::vector<std::byte> good = jpeg_of(1);
  std::vector<std::byte> out(16 * 16 * 3 * sizeof(float)), expected = out;
  isolated.encoded(expected, good, "the image");
  const pid_t child = test::only_child();
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  std::string reason;
  for (int i = 0; i < 10'000 && reason.empty(); ++i) {  // some come before its end is seen
    try {
      isolated.encoded(out, good, "the image");
    } catch (const Error& error) {
      FAIL() << "the image is blamed: " << error.what();
    } catch (const std::runtime_error& error) {
      reason = error.what();
    }
  }
  EXPECT_THAT(reason, testing::HasSubstr("worker processes cannot go on"));
  isolated.encoded(out, good, "the image");
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace stoker
