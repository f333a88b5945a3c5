// How a run ends other than well: a validation that fails, a loss that diverges.
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/pipeline/test_sources.h"
#include "stoker/train/checkpointing.h"
#include "stoker/train/test_runs.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

// Keeps the state of the first validation that fails, as a checkpoint does.
class Keeper final : public Observer {
 public:
  std::vector<std::uint32_t> validated;  // epochs
  std::vector<double> rates, train_losses;
  std::vector<std::size_t> skipped;
  int trained = 0, failed = 0;
  void epoch_trained(const State& state) override {
    EXPECT_TRUE(state.awaits_validation());
    ++trained;
  }
  void validation_failed(const State& state) override {
    EXPECT_TRUE(state.awaits_validation());
    ++failed;
  }
  void epoch_done(const EpochReport& report) override {
    EXPECT_FALSE(report.state.awaits_validation());
    validated.push_back(report.epoch);
    rates.push_back(report.rate);
    train_losses.push_back(report.train_loss);
    skipped.push_back(report.validation_faults.size());
  }
};

TrainData damaged_validation() {
  TrainData data = test::made_up_data();
  auto validation = std::make_shared<test::MadeUpSource>(30);
  validation->unreadable = 11;
  data.validation = validation;
  return data;
}

State new_state(bool average) {
  State state = test::new_state("cnn:4,8");
  if (!average) return state;
  return {std::move(state.model), {}, {.decay = 0.9}};
}

// The validation of every epoch fails first; the state goes through text and tensors, as in a file.
TEST(Trainer, AfterAFailedValidationTheRunGoesOnWithItToTheSameBits) {
  for (const bool average : {false, true}) {
    TrainOptions options = test::small_options();
    options.schedule.sched = ScheduleKind::kPlateau;
    State whole = new_state(average), broken = new_state(average);
    Keeper expected, found;
    Trainer(whole, test::made_up_data(), options, expected).run();
    for (std::uint32_t epoch = 0; epoch < options.feed.epochs; ++epoch) {
      EXPECT_THROW(Trainer(broken, damaged_validation(), options, found).run(), Error);
      EXPECT_TRUE(broken.awaits_validation());
      EXPECT_EQ(broken.epochs_done(), epoch);
      State restored = new_state(average);
      const auto from = tensors_of(broken), to = tensors_of(restored);
      for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.detach().copy_(from[i].tensor);
      read_numbers(restored, numbers_of(broken), "here");
      const bool last = epoch + 1 == options.feed.epochs;
      EXPECT_EQ(Trainer(restored, test::made_up_data(), options, found, [] { return true; }).run(),
                last ? RunEnd::kAllEpochs : RunEnd::kStopped);
      EXPECT_EQ(restored.epochs_done(), epoch + 1) << "validated, and nothing else";
      broken = std::move(restored);
    }
    EXPECT_TRUE(test::same(whole, broken));
    EXPECT_EQ(found.failed, 3);
    EXPECT_EQ(found.validated, expected.validated);
    EXPECT_EQ(found.rates, expected.rates);
    EXPECT_EQ(found.train_losses, expected.train_losses);
  }
}

TEST(Trainer, DamagedValidationSamplesAreSkippedAndTold) {
  for (const std::size_t frozen : {0, 2}) {  // with 2, features are kept
    TrainOptions options = test::small_options();
    options.feed.on_error = OnError::kSkip;
    State state = test::new_state("cnn:4,8");
    state.model->freeze(frozen);
    Keeper keeper;
    EXPECT_EQ(Trainer(state, damaged_validation(), options, keeper).run(), RunEnd::kAllEpochs);
    EXPECT_EQ(keeper.skipped, (std::vector<std::size_t>{1, 1, 1}));
    EXPECT_EQ(keeper.trained, 3);
  }
}

// A process that is asked to stop while a batch of its step is late.
TEST(Trainer, AStopAmidAStepWaitsForTheBatchesOfTheStep) {
  constexpr std::chrono::milliseconds kLate{1500};  // longer than the feed's patience
  TrainOptions options = test::small_options();
  options.grad_accum_steps = 3;
  options.feed.shuffle = false;
  TrainData data = test::made_up_data();
  const auto source = std::make_shared<test::BlockingSource>(100, /*blocked=*/20);
  data.train = source;
  const std::jthread file_server([&] {
    while (!source->is_waited_for()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(kLate);
    source->release();
  });
  State state = test::new_state();
  Observer nobody;
  const auto stop = [&] { return source->is_waited_for(); };
  EXPECT_EQ(Trainer(state, data, options, nobody, stop).run(), RunEnd::kStopped);
  EXPECT_EQ(state.step, 1U);
}

// What it hears of a loss that diverges.
class Listener final : public Observer {
 public:
  std::vector<std::uint64_t> steps;  // at which it was told
  std::uint32_t epochs = 0;
  void diverged(const State& state, const std::string& how) override {
    EXPECT_FALSE(how.empty());
    steps.push_back(state.step);
  }
  void epoch_done(const EpochReport&) override { ++epochs; }
};

TrainOptions exploding_options() {
  TrainOptions options = test::small_options();
  options.schedule.lr = 3e38;
  return options;
}

TEST(Trainer, ALossThatIsNotFiniteEndsTheRunUnlessItMayContinue) {
  Listener stopped, continued;
  TrainOptions options = exploding_options();
  State state = test::new_state();
  EXPECT_EQ(Trainer(state, test::made_up_data(), options, stopped).run(), RunEnd::kDiverged);
  EXPECT_EQ(stopped.steps, std::vector<std::uint64_t>{10}) << "the first look";
  EXPECT_EQ(stopped.epochs, 0U);
  options.on_divergence = OnDivergence::kContinue;
  State other = test::new_state();
  EXPECT_EQ(Trainer(other, test::made_up_data(), options, continued).run(), RunEnd::kAllEpochs);
  EXPECT_EQ(continued.steps, stopped.steps) << "told once";
  EXPECT_EQ(continued.epochs, 3U);
}

TEST(Trainer, AResumedRunDivergesAtTheSameStep) {
  State whole = test::new_state(), broken = test::new_state();
  Observer nobody;
  const TrainOptions options = exploding_options();
  EXPECT_EQ(Trainer(whole, test::made_up_data(), options, nobody).run(), RunEnd::kDiverged);
  RunEnd end = RunEnd::kStopped;
  while (end == RunEnd::kStopped) {
    end = Trainer(broken, test::made_up_data(), options, nobody, [] { return true; }).run();
    const std::string numbers = numbers_of(broken);
    read_numbers(broken, numbers, "here");
  }
  EXPECT_EQ(end, RunEnd::kDiverged);
  EXPECT_EQ(broken.step, whole.step);
  EXPECT_EQ(numbers_of(broken), numbers_of(whole));
}

// A checkpoint of a version without the watch, taken in the middle of an epoch.
TEST(State, NumbersWithoutALossWatchAreRead) {
  State state = test::new_state();
  Observer nobody;
  Trainer(state, test::made_up_data(), test::small_options(), nobody, [] { return true; }).run();
  std::string numbers = numbers_of(state);
  const std::size_t begin = numbers.find("\"loss_watch\"");
  numbers.erase(begin, numbers.find('}', begin) + 2 - begin);
  read_numbers(state, numbers, "old");
  EXPECT_EQ(state.loss_watch.numbers().steps, 0U);
  EXPECT_EQ(state.loss_watch.numbers().epoch_sum, state.sums.loss.item<double>());
  EXPECT_EQ(Trainer(state, test::made_up_data(), test::small_options(), nobody).run(),
            RunEnd::kAllEpochs);
}

// A sample whose read never returns, in training or in validation: a run that is asked to stop ends
// at its last whole step, and goes on from there to the same bits.
TEST(Trainer, AReadThatHangsDoesNotKeepARunThatIsAskedToStop) {
  TrainOptions options = test::small_options();
  State whole = test::new_state();
  Observer nobody;
  Trainer(whole, test::made_up_data(), options, nobody).run();
  for (const bool in_training : {true, false}) {
    State broken = test::new_state();
    const auto hung = std::make_shared<test::BlockingSource>(in_training ? 100 : 30, 17);
    TrainData data = test::made_up_data();
    (in_training ? data.train : data.validation) = hung;
    std::optional<std::chrono::steady_clock::time_point> seen;
    // After the steps before it: a stop between two steps needs no patience.
    const auto stop = [&] {
      const auto now = std::chrono::steady_clock::now();
      if (hung->is_waited_for() && !seen) seen = now;
      return seen && now - *seen > std::chrono::milliseconds(500);
    };
    EXPECT_EQ(Trainer(broken, data, options, nobody, stop).run(), RunEnd::kStopped);
    ASSERT_TRUE(seen);
    EXPECT_LT(std::chrono::steady_clock::now() - *seen, std::chrono::seconds(20));
    EXPECT_EQ(broken.awaits_validation(), !in_training);
    EXPECT_EQ(broken.cursor.epoch, in_training ? 0U : 1U);
    hung->release();
    Trainer(broken, test::made_up_data(), options, nobody).run();
    EXPECT_TRUE(test::same(whole, broken)) << in_training;
  }
}

// Batch norms have seen the first batch of a step of two: no state of a whole step is left.
TEST(Trainer, AReadThatHangsAmidAStepLeavesNoStateToSave) {
  TrainOptions options = test::small_options();
  options.grad_accum_steps = 2;
  options.feed.shuffle = false;
  State state = test::new_state();
  TrainData data = test::made_up_data();
  const auto hung = std::make_shared<test::BlockingSource>(100, 10);  // of the second batch
  data.train = hung;
  Observer nobody;
  EXPECT_THROW(Trainer(state, data, options, nobody, [] { return true; }).run(), Error);
  hung->release();
}

}  // namespace
}  // namespace stoker
