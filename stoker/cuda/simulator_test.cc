#include "stoker/cuda/simulator.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/cuda/test_launch.h"

namespace stoker::cuda {
namespace {

using testing::HasSubstr;

// The message of the error that this simulation ends with.
std::string failure_of(const SimulatorOptions& options, const std::function<void()>& kernel) {
  try {
    simulate(options, kernel);
  } catch (const SimulatorError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Simulator, RunsEveryThreadOfEveryBlockOnceWithItsIndices) {
  std::multiset<std::size_t> seen;
  simulate({.grid = {3, 2, 2}, .block = {5, 4, 2}}, [&] {
    EXPECT_EQ(gridDim.count(), 12U);
    EXPECT_EQ(blockDim.count(), 40U);
    const std::size_t block = (blockIdx.z * 2 + blockIdx.y) * 3 + blockIdx.x;
    seen.insert(block * 40 + (threadIdx.z * 4 + threadIdx.y) * 5 + threadIdx.x);
  });
  ASSERT_EQ(seen.size(), 480U);
  EXPECT_EQ(std::set<std::size_t>(seen.begin(), seen.end()).size(), 480U);
  EXPECT_EQ(*seen.rbegin(), 479U);
}

std::vector<unsigned> order_of_threads(std::uint64_t seed) {
  std::vector<unsigned> order;
  simulate({.block = {64}, .seed = seed}, [&] { order.push_back(threadIdx.x); });
  return order;
}

TEST(Simulator, TheSeedDecidesTheOrder) {
  EXPECT_EQ(order_of_threads(1), order_of_threads(1));
  EXPECT_NE(order_of_threads(1), order_of_threads(2));
}

TEST(Simulator, NoThreadPassesABarrierBeforeAllHaveReachedIt) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    int arrived = 0, left = 0;
    const auto report = simulate({.grid = {2}, .block = {256}, .seed = seed}, [&] {
      for (int round = 0; round < 3; ++round) {
        ++arrived;
        STOKER_BARRIER(all_here);
        EXPECT_EQ(arrived % 256, 0);
        ++left;
        STOKER_BARRIER(all_gone);
        EXPECT_EQ(left % 256, 0);
      }
    });
    EXPECT_EQ(arrived, 2 * 3 * 256);
    EXPECT_EQ(report.barriers, 2U * 6);
    EXPECT_EQ(report.most_waiting, 256U);
  }
}

TEST(Simulator, ThreadsKeepTheirIndicesAndVariablesOverBarriers) {
  simulate({.block = {8, 8}, .seed = 3}, [] {
    const unsigned x = threadIdx.x, y = threadIdx.y;
    for (int round = 0; round < 4; ++round) {
      STOKER_BARRIER(round);
      EXPECT_EQ(threadIdx.x, x);
      EXPECT_EQ(threadIdx.y, y);
    }
  });
}

TEST(Simulator, FindsABarrierThatPartOfABlockNeverReaches) {
  EXPECT_THAT(failure_of({.block = {32}},
                         [] {
                           if (threadIdx.x == 7) return;
                           STOKER_BARRIER(lonely);
                         }),
              HasSubstr("divergent barrier lonely in block 0: 31 of 32"));
}

TEST(Simulator, FindsThreadsAtDifferentBarriers) {
  EXPECT_THAT(failure_of({.block = {32}},
                         [] {
                           if (threadIdx.x % 2 == 0) {
                             STOKER_BARRIER(even);
                           } else {
                             STOKER_BARRIER(odd);
                           }
                         }),
              HasSubstr("divergent barriers"));
}

TEST(Simulator, FindsIndicesOutsideABuffer) {
  const Buffer<float> buffer("image", std::vector<float>(10));
  for (const std::int64_t index : {std::int64_t{-1}, std::int64_t{10}, std::int64_t{1} << 40}) {
    EXPECT_THAT(failure_of({}, [&] { (void)float(buffer.input()[index]); }),
                HasSubstr("image[" + std::to_string(index) + "]; it has 10 values"));
  }
}

TEST(Simulator, FindsWritesOutsideABufferAndASharedArray) {
  Buffer<int> buffer("out", std::vector<int>(4));
  const auto out = buffer.output();
  EXPECT_THAT(failure_of({.block = {5}}, [&] { out[threadIdx.x] = 1; }), HasSubstr("out[4]"));
  EXPECT_THAT(failure_of({.block = {5}},
                         [] {
                           STOKER_SHARED(int, few, 4);
                           few[threadIdx.x] = 1;
                         }),
              HasSubstr("few[4]"));
}

TEST(Simulator, FindsVectorAccessesOffTheirAlignment) {
  const Buffer<float> even("even", std::vector<float>(9)), odd("odd", std::vector<float>(9), 1);
  EXPECT_EQ(failure_of({}, [&] { load_pack<4>(even.input(), 4); }), "no error");
  EXPECT_THAT(failure_of({}, [&] { load_pack<4>(even.input(), 1); }), HasSubstr("alignment"));
  EXPECT_THAT(failure_of({}, [&] { load_pack<4>(odd.input(), 0); }), HasSubstr("alignment"));
  EXPECT_THAT(failure_of({}, [&] { load_pack<4>(even.input(), 8); }), HasSubstr("even[9]"));
}

TEST(Simulator, FindsTwoThreadsThatWriteOneValue) {
  Buffer<int> buffer("out", std::vector<int>(4));
  const auto out = buffer.output();
  EXPECT_THAT(failure_of({.block = {2}}, [&] { out[0] = 1; }), HasSubstr("writes out[0] that"));
  const auto again = buffer.output();
  EXPECT_THAT(failure_of({.grid = {2}}, [&] { again[0] = 1; }), HasSubstr("of block"));
}

TEST(Simulator, FindsSharedMemoryReadBeforeItIsWritten) {
  const auto reads_first = [] {
    STOKER_SHARED(int, box, 2);
    if (blockIdx.x == 0) box[0] = 1;
    (void)int(box[0]);
  };
  EXPECT_EQ(failure_of({}, reads_first), "no error");
  // What the first block wrote is not there for the second.
  EXPECT_THAT(failure_of({.grid = {2}}, reads_first), HasSubstr("nobody has written"));
}

TEST(Simulator, FindsRacesInSharedMemoryWhateverTheOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto neighbours = [] {
      STOKER_SHARED(int, box, 2);
      box[threadIdx.x] = 1;
      STOKER_BARRIER(written);
      (void)int(box[1 - threadIdx.x]);
      STOKER_BARRIER(read);
      box[1 - threadIdx.x] = 2;
    };
    EXPECT_EQ(failure_of({.block = {2}, .seed = seed}, neighbours), "no error");
    EXPECT_NE(failure_of({.block = {2}, .seed = seed, .omit_barrier = "written"}, neighbours),
              "no error");
  }
}

TEST(Simulator, ReportsTheErrorOfAThreadThatWaitedAtABarrier) {
  const Buffer<float> buffer("image", std::vector<float>(10));
  EXPECT_THAT(failure_of({.grid = {3}, .block = {64}},
                         [&] {
                           STOKER_BARRIER(first);
                           if (threadIdx.x == 63) (void)float(buffer.input()[99]);
                           STOKER_BARRIER(second);
                         }),
              HasSubstr("thread (63, 0, 0)"));
  // The machine is free for the next one.
  EXPECT_EQ(simulate({.block = {64}}, [] { STOKER_BARRIER(next); }).barriers, 1U);
}

}  // namespace
}  // namespace stoker::cuda
