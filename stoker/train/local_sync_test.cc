#include "stoker/train/local_sync.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/nn/layers/shared_statistics.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

TEST(LocalSync, AddsToTheStatesSumsAndAsksItselfWhetherToStop) {
  State state = test::new_state();
  LocalSync sync(state, /*shared_statistics=*/false);
  EXPECT_EQ(sync.group(), nullptr);
  EXPECT_EQ(&sync.sums(), &state.sums);
  int asked = 0;
  const StepSync::Stop stop = [&] { return ++asked > 1; };
  sync.start_beat(stop, 17);
  EXPECT_EQ(asked, 0) << "there is nobody to tell";
  EXPECT_EQ(sync.marks(), 17u);
  EXPECT_FALSE(sync.should_stop(stop));
  EXPECT_TRUE(sync.should_stop(stop));
  EXPECT_FALSE(sync.should_stop({}));
  EXPECT_FALSE(sync.times());
}

TEST(LocalSync, PassesThatAreForgottenLeaveRunningStatisticsAsTheyWere) {
  State state = test::new_state("cnn:4,8");
  LocalSync sync(state, /*shared_statistics=*/false);
  const auto pass = [&] {
    sync.pass([&] { state.model->note_statistics(at::rand({4, 1, 9, 20}), {}); });
  };
  const auto statistics = [&] { return state.model->changing_buffers().front().tensor.clone(); };
  sync.begin_epoch();
  sync.begin_step();
  const at::Tensor before = statistics();
  pass();
  pass();
  EXPECT_FALSE(at::equal(statistics(), before));
  sync.forget_passes();
  EXPECT_TRUE(at::equal(statistics(), before)) << "all parts of the step are made again";
}

TEST(LocalSync, SharesStatisticsWithNobodyIfAsked) {
  State state = test::new_state();
  for (const bool shared : {false, true}) {
    bool active = !shared;
    LocalSync(state, shared).pass([&] { active = SharedStatistics::active(); });
    EXPECT_EQ(active, shared);
  }
}

}  // namespace
}  // namespace stoker
