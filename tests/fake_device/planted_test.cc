// The fake device finds bugs in the code that copies batches ahead.
#include "tests/fake_device/planted.h"

#include <ATen/ATen.h>

#include "stoker/pipeline/test_sources.h"
#include "stoker/train/device_batches.h"
#include "tests/fake_device/test_fixture.h"

namespace stoker::fake {
namespace {

class PlantedBug : public Fixture {
 protected:
  void TearDown() override {
    planted = Bug::kNone;
    forget_leaks();
    Fixture::TearDown();
  }

  // Sums all batches on the device, as a network would use them. Nobody waits before the end.
  static double sum_of_batches(Bug bug) {
    planted = bug;
    const auto source = std::make_shared<test::MadeUpSource>(64);
    FeedOptions options = {.workers = 1, .batch_size = 8};
    prepare_feed_for(device(0), *source, options);
    at::Tensor sum = at::zeros({}, device(0));
    machine().wait_for(current_stream(0));
    {
      Feed feed(source, Policy(), options);
      const auto batches = planted_batches(feed, device(0));
      for (int i = 0; i < 7; ++i) sum += batches->next()->values.sum();
    }
    machine().wait_for_device(0);
    return sum.item<double>();
  }
};
INSTANTIATE_TEST_SUITE_P(Orders, PlantedBug, kOrders, order_name);

TEST_P(PlantedBug, WithoutOneNothingIsFound) {
  const double sum = sum_of_batches(Bug::kNone);
  EXPECT_TRUE(std::isfinite(sum));
  EXPECT_GT(since_begin().late_copies, 14U) << "pixels and labels";
  EXPECT_EQ(sum, sum_of_batches(Bug::kNone));
}

TEST_P(PlantedBug, AMissingWaitForTheCopyIsFound) {
  static_cast<void>(sum_of_batches(Bug::kNoWait));
  EXPECT_TRUE(found_any(Fault::kUnordered));
}

TEST_P(PlantedBug, AWrongStreamIsFound) {
  static_cast<void>(sum_of_batches(Bug::kWrongStream));
  EXPECT_TRUE(found_any(Fault::kUnordered));
}

TEST_P(PlantedBug, ABatchThatItsAllocatorMayReuseIsFound) {
  static_cast<void>(sum_of_batches(Bug::kNotNoted));
  EXPECT_TRUE(found_only(Fault::kFreedInUse, "aten::sum"));
}

TEST_P(PlantedBug, MemoryThatGoesBackToTheWorkersTooEarlyIsFound) {
  static_cast<void>(sum_of_batches(Bug::kNoHostWait));
  EXPECT_TRUE(found_any(Fault::kHostChanged));
}

// The memory of the device ends at each allocation in turn, so also between the copies of a batch.
TEST_P(PlantedBug, ACopyThatOutlivesAnErrorIsFound) {
  for (const Bug bug : {Bug::kNone, Bug::kNoWaitAfterErrors}) {
    for (int allocation = 1; allocation < 30; ++allocation) {
      machine().refuse_allocation_after(allocation);
      EXPECT_THROW(static_cast<void>(sum_of_batches(bug)), c10::OutOfMemoryError) << allocation;
      machine().wait_for_device(0);
    }
    const bool found = !machine().take_violations().empty();
    EXPECT_EQ(found, bug != Bug::kNone);
  }
}

class PlantedHostRead : public PlantedBug {};
INSTANTIATE_TEST_SUITE_P(Orders, PlantedHostRead, ::testing::Values(Order{}), order_name);

TEST_P(PlantedHostRead, EndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(static_cast<void>(sum_of_batches(Bug::kHostRead)),
               "the host touched memory of fake:0");
}

TEST_P(PlantedBug, ALeakedBatchIsFound) {
  const std::uint64_t before = machine().counters(0).live_blocks;
  static_cast<void>(sum_of_batches(Bug::kLeak));
  EXPECT_EQ(machine().counters(0).live_blocks, before + 1);
}

}  // namespace
}  // namespace stoker::fake
