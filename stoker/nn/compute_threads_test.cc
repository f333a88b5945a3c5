#include "stoker/nn/compute_threads.h"

#include <set>
#include <thread>
#include <vector>

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

using testing::Each;

class ComputeThreads : public testing::Test {
 protected:
  static constexpr int kThreads = 4;
  ComputeThreads() { at::set_num_threads(kThreads); }
  ~ComputeThreads() override { at::set_num_threads(before_); }

 private:
  int before_ = at::get_num_threads();
};

TEST_F(ComputeThreads, HaveOnePartEachWhereThereAreAsMany) {
  std::vector<std::thread::id> threads(kThreads);
  for_parts(kThreads, [&](std::int64_t part) {
    threads[static_cast<std::size_t>(part)] = std::this_thread::get_id();
  });
  EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), kThreads);
}

TEST_F(ComputeThreads, DoEveryPartOnce) {
  for (const std::size_t parts : {0, 1, 3, 4, 5, 1001}) {
    std::vector<int> done(parts);
    for_parts(static_cast<std::int64_t>(parts),
              [&](std::int64_t part) { ++done[static_cast<std::size_t>(part)]; });
    EXPECT_THAT(done, Each(1)) << parts;
  }
}

TEST_F(ComputeThreads, AreNotAskedForFewParts) {
  std::set<std::thread::id> threads;  // not guarded: there is only this one
  for_parts(
      9, [&](std::int64_t) { threads.insert(std::this_thread::get_id()); }, 10);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

TEST_F(ComputeThreads, PassErrorsOn) {
  const auto fail = [](std::int64_t part) {
    if (part == 3) throw Error({.what = "no part 3"});
  };
  EXPECT_THROW(for_parts(4, fail), Error);
}

}  // namespace
}  // namespace stoker
