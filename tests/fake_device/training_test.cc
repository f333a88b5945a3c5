// Stoker's trainer, checkpoints, averages, mixed precision and predictions on the fake device. The
// device computes with the CPU's kernels, so the results have the CPU's bits.
#include <ATen/ATen.h>

#include "stoker/core/test_files.h"
#include "stoker/train/batch_probe.h"
#include "stoker/train/checkpointing.h"
#include "stoker/train/evaluate.h"
#include "tests/fake_device/test_fixture.h"
#include "tests/fake_device/test_runs.h"

namespace stoker::fake {
namespace {

class TrainingOnFakeDevice : public Fixture {};
INSTANTIATE_TEST_SUITE_P(Orders, TrainingOnFakeDevice, kOrders, order_name);

TEST_P(TrainingOnFakeDevice, GivesTheBitsOfTheCpu) {
  for (const auto& [architecture, kind] : {std::pair("mlp:180,16,2", OptimiserKind::kSgd),
                                           {"cnn:4,8", OptimiserKind::kAdamW},
                                           {"cnn:4,8", OptimiserKind::kLion}}) {
    const RunSetup setup = {.architecture = architecture, .optimiser = {.kind = kind}};
    EXPECT_EQ(trained_on(device(0), setup), trained_on(at::kCPU, setup)) << architecture;
  }
  EXPECT_GT(since_begin().late_copies, 3U * 39 * 2) << "batches are copied ahead";
}

TEST_P(TrainingOnFakeDevice, GivesTheBitsOfTheCpuWithAnAverageOfWeights) {
  for (const AverageOptions& average : {AverageOptions{.decay = 0.9}, {.equal_from = 1}}) {
    const RunSetup setup = {.average = average};
    EXPECT_EQ(trained_on(device(0), setup), trained_on(at::kCPU, setup));
  }
}

TEST_P(TrainingOnFakeDevice, GivesTheBitsOfTheCpuWithGroupsOfBatchesAndClipping) {
  RunSetup setup;
  setup.options.grad_accum_steps = 3;
  setup.options.clip_grad = 0.1;
  setup.options.smoothing = 0.1;
  setup.options.class_weights = {1, 2};
  EXPECT_EQ(trained_on(device(0), setup), trained_on(at::kCPU, setup));
}

TEST_P(TrainingOnFakeDevice, OfTheHeadAloneUsesKeptFeatures) {
  RunSetup setup = {.head_only = true};
  setup.options.cached_views = 2;
  EXPECT_EQ(trained_on(device(0), setup), trained_on(at::kCPU, setup));
}

// Mixed on a CPU by a kernel of ours, on a device by tensors.
TEST_P(TrainingOnFakeDevice, MixesImagesOnTheDevice) {
  RunSetup setup = {.architecture = "mlp:180,16,2"};
  setup.options.mix = {.mixup_alpha = 0.5, .cutmix_alpha = 0.5};
  const Ended found = trained_on(device(0), setup), expected = trained_on(at::kCPU, setup);
  for (std::size_t i = 0; i < found.tensors.size(); ++i) {
    EXPECT_TRUE(at::allclose(found.tensors[i].tensor, expected.tensors[i].tensor, 1e-3, 1e-4))
        << found.tensors[i].name;
  }
}

TEST_P(TrainingOnFakeDevice, InMixedPrecisionComputesProductsIn16Bits) {
  const double expected = trained_on(at::kCPU, {}).loss;
  for (const Precision precision : {Precision::kBfloat16, Precision::kFloat16}) {
    const std::uint64_t before = calls_in_16_bits();
    const Ended found = trained_on(device(0), {.precision = precision});
    EXPECT_GT(calls_in_16_bits(), before + 39U * 3);
    EXPECT_NEAR(found.loss, expected, 0.05);
    for (const NamedTensor& each : found.tensors) {
      EXPECT_NE(each.tensor.scalar_type(), at::kBFloat16) << each.name;
    }
  }
}

// A checkpoint of one device resumes on the other: after every five steps of each.
TEST_P(TrainingOnFakeDevice, ResumesCheckpointsOfTheCpuAndTheCpuItsOwn) {
  const RunSetup setup = {.average = {.decay = 0.9}};
  const TempFolder folder;
  Ended found;
  int runs = 0;
  for (RunEnd end = RunEnd::kStopped; end == RunEnd::kStopped; ++runs) {
    State state = state_on(runs % 2 == 0 ? device(0) : c10::Device(at::kCPU), setup);
    Checkpointing checkpoints(folder.path(), {1, IntervalUnit::kEpochs}, 3, "a: 1\n");
    if (runs > 0) static_cast<void>(checkpoints.restore(state));
    Splits seen;
    end = Trainer(state, test::made_up_data(), setup.options, seen, [&] {
            return state.step % 5 == 4;
          }).run();
    checkpoints.save(state);
    found = ended(state, seen);
  }
  EXPECT_GT(runs, 6);
  EXPECT_EQ(found, trained_on(at::kCPU, setup));
}

TEST_P(TrainingOnFakeDevice, PredictionsAreThoseOfTheCpu) {
  const auto predictions = [](const c10::Device& where) {
    const State state = state_on(where, {});
    std::vector<float> all;
    const MetricsResult result =
        evaluate(*state.model, test::made_up_data().validation, {.batch_size = 8, .workers = 2},
                 [&](const Predictions& told) {
                   all.insert(all.end(), told.probabilities.begin(), told.probabilities.end());
                   all.insert(all.end(), told.losses.begin(), told.losses.end());
                 });
    all.push_back(static_cast<float>(result.loss));
    return all;
  };
  EXPECT_EQ(predictions(device(0)), predictions(at::kCPU));
}

TEST_P(TrainingOnFakeDevice, SplitsABatchThatTheMemoryIsTooSmallFor) {
  RunSetup setup;
  setup.options.feed.batch_size = 32;
  const std::uint64_t limit = [&] {
    State state = state_on(device(0), setup);
    const std::uint64_t weights = machine().counters(0).live_bytes;
    // One image needs a map of 4 channels, and more behind it.
    return weights + 32 * 180 * sizeof(float) * 4 * 3;
  }();
  machine().set_memory_limit(0, limit);
  const Ended found = trained_on(device(0), setup);
  machine().set_memory_limit(0, ~std::uint64_t{0});
  EXPECT_GT(found.parts, 1U);
  // The same parts, where there is memory.
  State state = state_on(at::kCPU, setup);
  state.batch_parts = found.parts;
  Splits seen;
  Trainer(state, test::made_up_data(), setup.options, seen).run();
  EXPECT_EQ(found, ended(state, seen));
}

TEST_P(TrainingOnFakeDevice, ABatchSizeIsSoughtUpToTheEndOfTheMemory) {
  State state = state_on(device(0), {});
  machine().set_memory_limit(0, machine().counters(0).live_bytes + (1U << 20));
  const BatchChoice choice = choose_batch_size(*state.model, 4096);
  EXPECT_TRUE(choice.out_of_memory);
  EXPECT_GE(choice.size, 8U);
  EXPECT_LT(choice.size, 4096U);
}

// Wherever memory ends, the run goes on with smaller batches or ends with an error that says so,
// and nothing is left (see Fixture::TearDown).
TEST_P(TrainingOnFakeDevice, AnyAllocationMayFail) {
  RunSetup setup;
  setup.options.feed.epochs = 1;
  const std::uint64_t before = machine().counters(0).allocations;
  static_cast<void>(trained_on(device(0), setup));
  const auto all = static_cast<std::int64_t>(machine().counters(0).allocations - before);
  int refused = 0, split = 0;
  for (std::int64_t which = GetParam().seed.value_or(0); which < all; which += 131) {
    machine().refuse_allocation_after(which);
    try {
      split += trained_on(device(0), setup).parts > 1 ? 1 : 0;
    } catch (const c10::OutOfMemoryError&) {
      ++refused;
    }
  }
  EXPECT_GT(split, 0);
  EXPECT_GT(refused, 0);
}

// Wherever it ends within a step: what the step had already changed is not changed twice.
TEST_P(TrainingOnFakeDevice, AStepThatIsSplitIsTheStepOfItsParts) {
  RunSetup setup;
  setup.options.feed.epochs = 1;
  setup.options.feed.batch_size = 100;  // all of the data
  const auto on_cpu = [&](std::uint64_t parts) {
    State state = state_on(at::kCPU, setup);
    state.batch_parts = parts;
    Splits seen;
    Trainer(state, test::made_up_data(), setup.options, seen).run();
    return ended(state, seen);
  };
  const Ended expected = on_cpu(2);
  const std::uint64_t before = machine().counters(0).allocations;
  static_cast<void>(trained_on(device(0), setup));
  const auto all = static_cast<std::int64_t>(machine().counters(0).allocations - before);
  int split = 0;
  for (std::int64_t which = GetParam().seed.value_or(0) % 3; which < all; which += 3) {
    machine().refuse_allocation_after(which);
    try {
      const Ended found = trained_on(device(0), setup);
      if (found.parts != 2) continue;
      ++split;
      EXPECT_EQ(found, expected) << "allocation " << which << " of " << all;
    } catch (const c10::OutOfMemoryError&) {  // not in a step
    }
  }
  EXPECT_GT(split, 10);
}

TEST_P(TrainingOnFakeDevice, OnTheSecondDeviceLeavesTheFirstAlone) {
  EXPECT_EQ(trained_on(device(1), {}), trained_on(at::kCPU, {}));
  EXPECT_EQ(since_begin(0).jobs, 0U);
  EXPECT_EQ(since_begin(0).allocations, 0U);
  EXPECT_GT(since_begin(1).jobs, 0U);
}

TEST_P(TrainingOnFakeDevice, BatchAndModelOnTwoDevicesAreAnError) {
  const State state = state_on(device(0), {});
  EXPECT_THROW(static_cast<void>(state.model->forward(at::zeros({2, 1, 9, 20}, device(1)))), Error);
}

}  // namespace
}  // namespace stoker::fake
