// One test for each line of the specification that the feed covers, named after it.
#include <filesystem>
#include <numeric>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/augment/noise.h"
#include "stoker/augment/process_image.h"
#include "stoker/augment/rotate.h"
#include "stoker/augment/shift.h"
#include "stoker/augment/skew.h"
#include "stoker/core/channel.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/pipe_queue.h"
#include "stoker/data/order/batches.h"
#include "stoker/data/sources/image_folder.h"
#include "stoker/data/split.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_threads.h"
#include "tests/spec/spec_data.h"

namespace stoker {
namespace {

using test::threads_become;
using test::threads_now;

// create_batches: every batch has batch_size samples, the last gets the remainder, none is lost;
// and the other kind: number_of_batches random batches an epoch.
TEST(Spec, R03_CreateBatches) {
  std::vector<float> data(103 * 4);
  std::iota(data.begin(), data.end(), 0.0F);
  std::vector<int> labels(103);
  std::iota(labels.begin(), labels.end(), 0);
  const auto batches = create_batches(SampleMatrix{data, 4}, labels, 10);
  ASSERT_EQ(batches.size(), 11U);
  int next = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    EXPECT_EQ(batches[i].labels.size(), i < 10 ? 10U : 3U);
    for (std::size_t j = 0; j < batches[i].labels.size(); ++j, ++next) {
      EXPECT_EQ(batches[i].labels[j], next);
      EXPECT_EQ(batches[i].data.values[j * 4], static_cast<float>(next * 4));
    }
  }
  EXPECT_EQ(next, 103);

  const auto random = random_batches(
      {.samples = 103, .batch_size = 10, .number_of_batches = 5, .seed = 1, .epoch = 0});
  ASSERT_EQ(random.size(), 5U);
  std::set<std::uint64_t> seen;
  for (const auto& batch : random) seen.insert(batch.begin(), batch.end());
  EXPECT_EQ(seen.size(), 50U);
}

// rotate, shift (dx cells left, dy up, black fills), add_noise (own uniform value a pixel, legal),
// skew (out[y][x] = in[y][x + y tilt], black outside), on a real image.
TEST(Spec, R05_TheFourOperations) {
  STOKER_REAL_DATA(source, "fashion-mnist", Split::kTrain);
  SampleBuffer buffer;
  const Image in(source->read(0, buffer).value().image);
  const auto at = [&](int y, int x) {
    return y < 0 || x < 0 || y > 27 || x > 27 ? 0 : in.at(y, x);
  };
  const Image turned = rotate(in.view(), 90), moved = shift(in.view(), 3, 2),
              skewed = skew(in.view(), 2);
  const Image noisy = add_noise(in.view(), 0.2, rng_stream({.seed = 1}, 0));
  for (int y = 0; y < 28; ++y) {
    for (int x = 0; x < 28; ++x) {
      ASSERT_EQ(turned.at(y, x), at(x, 27 - y));
      ASSERT_EQ(moved.at(y, x), at(y + 2, x + 3));
      ASSERT_EQ(skewed.at(y, x), at(y, x + 2 * y));
      ASSERT_LE(std::abs(noisy.at(y, x) - at(y, x)), 51);
    }
  }
  EXPECT_NE(noisy, in);
}

// process_image: all in sequence with random arguments from configurable bounds.
TEST(Spec, R06_ProcessImage) {
  STOKER_REAL_DATA(source, "fashion-mnist", Split::kTrain);
  SampleBuffer buffer;
  const Image in(source->read(0, buffer).value().image);
  const ProcessBounds bounds{
      .rotate_degrees = 10, .shift_pixels = 3, .skew_tilt = 0.2, .max_noise = 0.05};
  std::set<std::vector<std::uint8_t>> versions;
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    const Image out = process_image(in.view(), {.seed = 1, .epoch = epoch}, bounds);
    versions.insert({out.view().data, out.view().data + out.shape().bytes()});
  }
  EXPECT_EQ(versions.size(), 20U);
}

// Workers take jobs, put augmented images where the reader finds them; created when reading starts
// and gone when it ends, also by an exception.
TEST(Spec, R07_WorkersLiveAsLongAsTheFeed) {
  STOKER_REAL_DATA(source, "fashion-mnist", Split::kTest);
  const int before = threads_now();
  try {
    Feed feed(source, Policy::parse("mnist"), {.workers = 4, .batch_size = 100});
    EXPECT_TRUE(threads_become(before + 4));
    std::uint64_t samples = 0;
    while (const auto batch = feed.next()) {
      samples += batch->size();
      if (samples == 5000) throw std::runtime_error("training fails");
    }
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(threads_become(before));
}

// The number of workers: SLURM_CPUS_PER_TASK first, then affinity and cgroup, at least 2.
TEST(Spec, R08_WorkersFollowWhatTheJobHas) {
  CpuBudgetSources sources = system_cpu_budget_sources();
  sources.affinity = [] { return 1; };
  sources.environment = [](const char*) -> std::optional<std::string> { return std::nullopt; };
  EXPECT_EQ(default_workers(cpu_budget(sources)), 2);
  sources.environment = [](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "SLURM_CPUS_PER_TASK") return "13";
    return std::nullopt;
  };
  EXPECT_EQ(default_workers(cpu_budget(sources)), 13);
}

// (a) Augmentation runs ahead through a bounded queue; (b) pixels are written once, into the memory
// that the reader sees.
TEST(Spec, R11_RunsAheadIntoMemoryThatTheReaderSees) {
  STOKER_REAL_DATA(source, "fashion-mnist", Split::kTrain);
  std::span<std::byte> ring_memory;
  Feed feed(
      source, Policy::parse("mnist"),
      {.workers = 2, .batch_size = 64, .ring_batches = 6, .make_memory = [&](std::size_t bytes) {
         auto memory = host_batch_memory(bytes);
         ring_memory = memory->bytes();
         return memory;
       }});
  const auto first = feed.next();
  // Ahead, but never further than the ring: five batches beside the one we hold.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (feed.stats().samples < 6 * 64 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(feed.stats().samples, 6U * 64U);
  EXPECT_GE(first->pixels().data(), ring_memory.data());
  EXPECT_LE(first->pixels().data() + first->pixels().size(),
            ring_memory.data() + ring_memory.size());
}

// A queue for many writers and one reader, between threads: put, get, length, empty.
TEST(Spec, R13_QueueForManyWritersAndOneReader) {
  Channel<int> queue(8);
  EXPECT_TRUE(queue.empty());
  std::vector<std::jthread> writers;
  for (int w = 0; w < 4; ++w) {
    writers.emplace_back([&queue] {
      for (int i = 1; i <= 1000; ++i) queue.put(i);
    });
  }
  std::int64_t sum = 0;
  for (int i = 0; i < 4000; ++i) {
    sum += *queue.get();
    ASSERT_LE(queue.length(), 8U);
  }
  EXPECT_EQ(sum, 4 * 500'500);
  EXPECT_TRUE(queue.empty());
}

// The same between processes, over a pipe, with a lock on the writing side only.
TEST(Spec, R13_QueueBetweenProcesses) {
  PipeQueue<int> queue;
  EXPECT_TRUE(queue.empty());
  std::vector<pid_t> writers;
  for (int w = 0; w < 4; ++w) {
    writers.push_back(fork());
    if (writers.back() == 0) {
      for (int i = 1; i <= 1000; ++i) queue.put(i);
      _exit(0);
    }
  }
  queue.close_writing_end();
  std::int64_t sum = 0, messages = 0;
  while (const auto value = queue.get()) {
    sum += *value;
    ++messages;
  }
  EXPECT_EQ(messages, 4000);
  EXPECT_EQ(sum, 4 * 500'500);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.length(), 0U);
  for (const pid_t writer : writers) EXPECT_EQ(waitpid(writer, nullptr, 0), writer);
}

// The class is the folder's name; every 6th image of each class goes to validation.
TEST(Spec, R23_EverySixthOfEachClassToValidation) {
  const std::filesystem::path plates = test_data() / "plates" / "train";
  STOKER_NEEDS(plates);
  const ImageListing listing = list_images(plates);
  ASSERT_EQ(listing.class_names, (std::vector<std::string>{"cleaned", "dirty"}));
  const SplitParts parts = split_listing(listing, {.every = 6});
  std::set<std::string> validation;
  for (const ListedImage& image : parts.validation.images) validation.insert(image.path);
  std::size_t in_class[2] = {0, 0};
  for (const ListedImage& image : listing.images) {
    const auto label = static_cast<std::size_t>(image.label);
    EXPECT_TRUE(image.path.starts_with(listing.class_names[label] + "/"));
    EXPECT_EQ(validation.contains(image.path), in_class[label]++ % 6 == 0) << image.path;
  }
  EXPECT_EQ(parts.train.images.size(), 32U);
  EXPECT_EQ(parts.validation.images.size(), 8U);
}

}  // namespace
}  // namespace stoker
