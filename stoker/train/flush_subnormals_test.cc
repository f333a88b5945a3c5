#include "stoker/train/flush_subnormals.h"

#include <cstdint>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/nn/compute_threads.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

using testing::Each;

constexpr int kThreads = 4;

// Of this thread and of LibTorch's.
std::vector<FloatMode> modes() {
  std::vector<FloatMode> found(kThreads + 1, float_mode());
  for_parts(kThreads,
            [&](std::int64_t part) { found[static_cast<std::size_t>(part)] = float_mode(); });
  return found;
}

class FlushSubnormalsTest : public testing::Test {
 protected:
  FlushSubnormalsTest() { at::set_num_threads(kThreads); }
  ~FlushSubnormalsTest() override { at::set_num_threads(before_); }

 private:
  int before_ = at::get_num_threads();
};

TEST_F(FlushSubnormalsTest, ReachesThreadsOfBeforeAndLeavesThemAsTheyWere) {
  EXPECT_THAT(modes(), Each(FloatMode::kExact));
  {
    const FlushSubnormals flush;
    EXPECT_THAT(modes(), Each(FloatMode::kFlushSubnormals));
  }
  EXPECT_THAT(modes(), Each(FloatMode::kExact));
}

TEST_F(FlushSubnormalsTest, HoldsForAllThreadsOfAnOperator) {
  const at::Tensor subnormals = at::full({1 << 20}, 2e-40F);
  const at::Tensor zeros = at::zeros_like(subnormals);
  EXPECT_FALSE(at::equal(at::mul(subnormals, 0.5), zeros));
  const FlushSubnormals flush;
  EXPECT_TRUE(at::equal(at::mul(subnormals, 0.5), zeros));
}

TEST_F(FlushSubnormalsTest, MayBeNested) {
  const FlushSubnormals flush;
  { const FlushSubnormals again; }
  EXPECT_THAT(modes(), Each(FloatMode::kFlushSubnormals));
}

class ModeRecorder final : public Observer {
 public:
  std::vector<FloatMode> modes;
  void step_done(const StepReport& /*report*/) override { modes.push_back(float_mode()); }
  void epoch_done(const EpochReport& /*report*/) override { modes.push_back(float_mode()); }
};

TEST_F(FlushSubnormalsTest, ATrainerDoesSoWhileItRuns) {
  State state = test::new_state();
  ModeRecorder recorder;
  Trainer(state, test::made_up_data(), test::small_options(), recorder).run();
  ASSERT_FALSE(recorder.modes.empty());
  EXPECT_THAT(recorder.modes, Each(FloatMode::kFlushSubnormals));
  EXPECT_EQ(float_mode(), FloatMode::kExact);
}

}  // namespace
}  // namespace stoker
