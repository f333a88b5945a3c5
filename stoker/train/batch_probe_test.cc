#include "stoker/train/batch_probe.h"

#include <gtest/gtest.h>

#include "stoker/train/test_models.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

TEST(BatchProbe, TakesASizeThatItTriedAndLeavesTheModelAlone) {
  State state = test::new_state("cnn:4,8");
  const State untouched = test::new_state("cnn:4,8");
  const BatchChoice choice = choose_batch_size(*state.model, 64);
  ASSERT_FALSE(choice.tried.empty());
  EXPECT_EQ(choice.tried.front().size, 8U);
  EXPECT_LE(choice.size, 64U);
  double best = 0, chosen = 0;
  for (const BatchProbe& probe : choice.tried) {
    best = std::max(best, probe.samples_per_second);
    if (probe.size == choice.size) chosen = probe.samples_per_second;
  }
  EXPECT_GE(chosen, 0.95 * best);
  EXPECT_TRUE(test::same(state, untouched));
}

TEST(BatchProbe, StopsWhereTheMemoryEnds) {
  test::SmallMemoryModel model(16);
  const BatchChoice choice = choose_batch_size(model, 1024);
  EXPECT_TRUE(choice.out_of_memory);
  EXPECT_LE(choice.size, 16U);
}

}  // namespace
}  // namespace stoker
