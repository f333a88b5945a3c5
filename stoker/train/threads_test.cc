#include "stoker/train/threads.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

const CpuBudget kEight = {.cpus = 8, .reason = "8 CPUs"};
constexpr std::int64_t kLarge = 1'000 * kMultiplyAddsPerThread;

TEST(ThreadSplit, ThreadsForLibTorchFollowTheWork) {
  EXPECT_EQ(split_threads(kEight, {.multiply_adds = 10}).compute, 1);
  EXPECT_EQ(split_threads(kEight, {.multiply_adds = 3 * kMultiplyAddsPerThread}).compute, 3);
  EXPECT_EQ(split_threads(kEight, {.multiply_adds = kLarge}).compute, 8);
}

TEST(ThreadSplit, ThreadsForLibTorchDoNotFollowTheWorkers) {
  for (const int workers : {1, 2, 8, 64}) {
    EXPECT_EQ(split_threads(kEight, {.workers = workers, .multiply_adds = kLarge}).compute, 8);
    EXPECT_EQ(split_threads(kEight, {.workers = workers, .multiply_adds = kLarge}).workers,
              workers);
  }
}

TEST(ThreadSplit, BothCanBeSet) {
  const ThreadSplit split = split_threads(kEight, {.workers = 3, .compute = 5, .multiply_adds = 1});
  EXPECT_EQ(split.workers, 3);
  EXPECT_EQ(split.compute, 5);
  EXPECT_NE(split.reason.find("3 workers, 5 threads"), std::string::npos);
}

TEST(ThreadSplit, AGpuNeedsOneThread) {
  const c10::Device cuda(c10::DeviceType::CUDA, 0);
  EXPECT_EQ(split_threads(kEight, {.multiply_adds = kLarge, .device = cuda}).compute, 1);
}

}  // namespace
}  // namespace stoker
