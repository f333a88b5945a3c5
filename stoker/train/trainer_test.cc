#include "stoker/train/trainer.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/train/test_models.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

class Recorder final : public Observer {
 public:
  std::vector<double> rates, losses, validation_losses, validation_top1;
  void step_done(const StepReport& report) override { rates.push_back(report.rate); }
  void epoch_done(const EpochReport& report) override {
    losses.push_back(report.train_loss);
    validation_losses.push_back(report.validation.loss);
    validation_top1.push_back(report.validation.top1);
  }
};

Recorder run(State& state, const TrainOptions& options, RunEnd expected = RunEnd::kAllEpochs) {
  Recorder recorder;
  EXPECT_EQ(Trainer(state, test::made_up_data(), options, recorder).run(), expected);
  return recorder;
}

State trained(const std::string& architecture, const OptimiserOptions& optimiser,
              const TrainOptions& options) {
  State state = test::new_state(architecture, optimiser);
  run(state, options);
  return state;
}

TEST(Trainer, LearnsWhatItSees) {
  State state = test::new_state("mlp:180,16,2", {.kind = OptimiserKind::kAdam});
  TrainOptions options = test::small_options();
  options.feed.epochs = 30;
  options.schedule.lr = 0.01;
  TrainData data = test::made_up_data();
  data.policy = {};  // noise can be learned by heart as long as it stays the same
  Recorder recorder;
  EXPECT_EQ(Trainer(state, data, options, recorder).run(), RunEnd::kAllEpochs);
  EXPECT_LT(recorder.losses.back(), 0.5 * recorder.losses.front());
  EXPECT_EQ(recorder.rates.size(), 30U * 13);
}

TEST(Trainer, TheNumberOfWorkersChangesNothing) {
  for (const char* architecture : {"mlp:180,16,2", "cnn:4,8"}) {
    TrainOptions options = test::small_options();
    options.feed.workers = 1;
    const State one = trained(architecture, {}, options);
    for (const int workers : {2, 4}) {
      options.feed.workers = workers;
      EXPECT_TRUE(test::same(one, trained(architecture, {}, options))) << workers;
    }
  }
}

TEST(Trainer, TheSeedChangesTheOrder) {
  TrainOptions options = test::small_options();
  const State one = trained("mlp:180,16,2", {}, options);
  options.feed.seed = 8;
  EXPECT_FALSE(test::same(one, trained("mlp:180,16,2", {}, options)));
}

// Stopped after every single step and begun again with a new trainer and feed.
TEST(Trainer, StoppingAnywhereChangesNothing) {
  for (const OptimiserKind kind :
       {OptimiserKind::kSgd, OptimiserKind::kAdamW, OptimiserKind::kLion}) {
    TrainOptions options = test::small_options();
    options.grad_accum_steps = 2;
    options.schedule.sched = ScheduleKind::kCosine;
    const State whole = trained("cnn:4,8", {.kind = kind}, options);
    State broken = test::new_state("cnn:4,8", {.kind = kind});
    Observer observer;
    int runs = 1;
    while (Trainer(broken, test::made_up_data(), options, observer, [] { return true; }).run() ==
           RunEnd::kStopped) {
      ++runs;
    }
    EXPECT_EQ(runs, 3 * 7) << "13 batches an epoch, two a step";
    EXPECT_TRUE(test::same(whole, broken));
  }
}

TEST(Trainer, AccumulatedBatchesAreOneLargeBatch) {
  TrainOptions options = test::small_options();
  options.feed.batch_size = 16;
  const State large = trained("mlp:180,16,2", {}, options);
  options.feed.batch_size = 8;
  options.grad_accum_steps = 2;
  const State small = trained("mlp:180,16,2", {}, options);
  EXPECT_EQ(large.step, small.step);
  const auto a = all_tensors(*large.model), b = all_tensors(*small.model);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(at::allclose(a[i].tensor, b[i].tensor, 1e-4, 1e-5)) << a[i].name;
  }
}

void expect_close(const State& one, const State& other) {
  const auto a = all_tensors(*one.model), b = all_tensors(*other.model);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(at::allclose(a[i].tensor, b[i].tensor, 1e-4, 1e-5)) << a[i].name;
  }
}

// Sums of gradients with a rate are means with the rate times the number of samples.
TEST(Trainer, GradientsCanBeSummedInsteadOfAveraged) {
  TrainOptions options = test::small_options();
  options.feed.drop_last = true;  // all batches have 8 samples
  options.schedule.lr = 0.08;
  const State mean = trained("mlp:180,16,2", {.momentum = 0}, options);
  options.grad_reduction = GradReduction::kSum;
  options.schedule.lr = 0.01;
  expect_close(mean, trained("mlp:180,16,2", {.momentum = 0}, options));
  // Accumulated: the sum over all samples of the step.
  options.feed.batch_size = 4;
  options.grad_accum_steps = 2;
  options.feed.drop_last = false;
  options.feed.batches_per_epoch = 24;
  expect_close(mean, trained("mlp:180,16,2", {.momentum = 0}, options));
}

TEST(Trainer, SquaredErrorIsTrainedAndValidated) {
  TrainOptions options = test::small_options();
  options.loss = LossKind::kSquaredError;
  State state = test::new_state("mlp:180,16,2:sigmoid:sigmoid");
  const Recorder recorder = run(state, options);
  EXPECT_LT(recorder.losses.front(), 0.5 * 2) << "half the squared error of two outputs below 1";
  EXPECT_LE(recorder.losses.back(), recorder.losses.front());
  EXPECT_GT(recorder.validation_losses.back(), 0.05);
  EXPECT_LT(recorder.validation_losses.back(), 0.5);
}

// With either output the network knows each class by itself; guessing costs log 2.
TEST(Trainer, BinaryCrossEntropyIsTrainedAndValidated) {
  for (const char* network : {"mlp:180,16,2:sigmoid:sigmoid", "cnn:4,8"}) {
    TrainOptions options = test::small_options();
    options.loss = LossKind::kBinaryCrossEntropy;
    options.mix.cutmix_alpha = 1;
    options.mix.probability = 0.5;
    State state = test::new_state(network);
    const Recorder recorder = run(state, options);
    EXPECT_LT(recorder.losses.back(), recorder.losses.front()) << network;
    EXPECT_LT(recorder.validation_losses.back(), std::log(2.0)) << network;
    EXPECT_GT(recorder.validation_losses.back(), 0) << network;
  }
}

// More batches than the data has: several passes an epoch, each with its own order and its own
// augmentation; stopping and workers change nothing.
TEST(Trainer, AnEpochMayHaveMoreBatchesThanTheData) {
  TrainOptions options = test::small_options();
  options.feed.batches_per_epoch = 30;  // 12 full batches a pass
  const State whole = trained("mlp:180,16,2", {}, options);
  EXPECT_EQ(whole.step, 90U);
  options.feed.workers = 4;
  EXPECT_TRUE(test::same(whole, trained("mlp:180,16,2", {}, options)));
  State broken = test::new_state();
  Observer observer;
  while (Trainer(broken, test::made_up_data(), options, observer, [] { return true; }).run() ==
         RunEnd::kStopped) {
  }
  EXPECT_TRUE(test::same(whole, broken));
}

TEST(Trainer, FollowsTheSchedule) {
  State state = test::new_state();
  TrainOptions options = test::small_options();
  options.schedule = {
      .sched = ScheduleKind::kStep, .lr = 0.1, .decay_epochs = 1, .decay_rate = 0.5};
  const Recorder recorder = run(state, options);
  EXPECT_DOUBLE_EQ(recorder.rates.front(), 0.1);
  EXPECT_DOUBLE_EQ(recorder.rates.at(13), 0.05);
  EXPECT_DOUBLE_EQ(recorder.rates.back(), 0.025);
}

TEST(Trainer, EndsWhenNothingGetsBetter) {
  State state = test::new_state();
  TrainOptions options = test::small_options();
  options.feed.epochs = 50;
  options.schedule.lr = 1e-12;  // the first epoch stays the best
  options.patience = 3;
  EXPECT_EQ(run(state, options, RunEnd::kNoProgress).losses.size(), 4U);
  // Begun again, it is still at its end.
  EXPECT_TRUE(run(state, options, RunEnd::kNoProgress).losses.empty());
}

TEST(Trainer, SmoothingAndClippingReachTheStep) {
  const State plain = trained("mlp:180,16,2", {}, test::small_options());
  TrainOptions smoothed = test::small_options(), clipped = test::small_options();
  smoothed.smoothing = 0.1;
  clipped.clip_grad = 1e-3;
  EXPECT_FALSE(test::same(plain, trained("mlp:180,16,2", {}, smoothed)));
  // With gradients this short the weights hardly move.
  const State start = test::new_state();
  const State stayed = trained("mlp:180,16,2", {.momentum = 0}, clipped);
  EXPECT_TRUE(at::allclose(all_tensors(*start.model)[0].tensor,
                           all_tensors(*stayed.model)[0].tensor, 0, 39 * 0.05 * 1e-3));
}

TEST(Trainer, MixedBatchesAreTheSameForAnyNumberOfWorkers) {
  const State plain = trained("mlp:180,16,2", {}, test::small_options());
  for (const MixOptions& mix : {MixOptions{.mixup_alpha = 0.2}, MixOptions{.cutmix_alpha = 1}}) {
    TrainOptions options = test::small_options();
    options.mix = mix;
    options.feed.workers = 1;
    const State one = trained("mlp:180,16,2", {}, options);
    options.feed.workers = 3;
    EXPECT_TRUE(test::same(one, trained("mlp:180,16,2", {}, options)));
    EXPECT_FALSE(test::same(one, plain));
  }
}

// What it has seen of the run when the batches did not fit into memory.
class SplitRecorder final : public Observer {
 public:
  std::vector<std::uint32_t> parts;
  void batch_split(std::uint32_t count) override { parts.push_back(count); }
};

TEST(Trainer, ABatchTooLargeForTheMemoryIsSplitAndTheStepStaysTheSame) {
  State whole = test::new_state(), split(std::make_unique<test::SmallMemoryModel>(3), {});
  SplitRecorder recorder;
  Observer nobody;
  Trainer(whole, test::made_up_data(), test::small_options(), nobody).run();
  Trainer(split, test::made_up_data(), test::small_options(), recorder).run();
  EXPECT_EQ(recorder.parts, (std::vector<std::uint32_t>{2, 4})) << "8 samples, room for 3";
  EXPECT_EQ(split.batch_parts, 4U);
  const auto a = all_tensors(*whole.model), b = all_tensors(*split.model);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(at::allclose(a[i].tensor, b[i].tensor, 1e-4, 1e-5)) << a[i].name;
  }
}

TEST(Trainer, ASampleTooLargeForTheMemoryEndsTheRun) {
  State state(std::make_unique<test::SmallMemoryModel>(0), {});
  Observer nobody;
  EXPECT_THROW(Trainer(state, test::made_up_data(), test::small_options(), nobody).run(),
               c10::OutOfMemoryError);
}

TEST(Trainer, UnfreezesAtTheEpochAndGoesOnFromThereAfterAStop) {
  const auto new_state = [] {
    State state = test::new_state("cnn:4,8");  // the optimiser takes everything
    state.model->freeze(2);
    return state;
  };
  TrainOptions options = test::small_options();
  options.unfreeze_epoch = 1;
  State whole = new_state();
  const at::Tensor first = all_tensors(*whole.model).front().tensor;
  const at::Tensor before = first.detach().clone();
  class Watcher final : public Observer {
   public:
    std::vector<bool> moved;
    at::Tensor weight, before;
    void epoch_done(const EpochReport&) override { moved.push_back(!at::equal(weight, before)); }
  } watcher;
  watcher.weight = first;
  watcher.before = before;
  Trainer(whole, test::made_up_data(), options, watcher).run();
  EXPECT_EQ(watcher.moved, (std::vector<bool>{false, true, true}));
  State broken = new_state();
  Observer nobody;
  const auto stop = [] { return true; };
  while (Trainer(broken, test::made_up_data(), options, nobody, stop).run() == RunEnd::kStopped) {
    if (broken.cursor.epoch == 0) broken.model->freeze(2);  // as a new process would
  }
  EXPECT_TRUE(test::same(whole, broken));
}

TEST(Trainer, ValidatesTheAverageAndResumesIt) {
  const AverageOptions average{.decay = 0.9};
  const auto new_state = [&] {
    State plain = test::new_state();
    return State(std::move(plain.model), {}, average);
  };
  State whole = new_state(), broken = new_state(), plain = test::new_state();
  Observer nobody;
  Trainer(whole, test::made_up_data(), test::small_options(), nobody).run();
  const auto stop = [] { return true; };
  while (Trainer(broken, test::made_up_data(), test::small_options(), nobody, stop).run() ==
         RunEnd::kStopped) {
  }
  EXPECT_TRUE(test::same(whole, broken));
  const auto trained_losses = run(plain, test::small_options());
  EXPECT_TRUE(at::equal(all_tensors(*whole.model)[0].tensor, all_tensors(*plain.model)[0].tensor))
      << "the average does not change the training";
  EXPECT_FALSE(at::equal(whole.average->tensors()[0].tensor, all_tensors(*plain.model)[0].tensor));
}

TEST(Trainer, ClassWeightsOfZeroSilenceAClass) {
  State state = test::new_state("mlp:180,16,2", {.momentum = 0});
  TrainOptions options = test::small_options();
  options.class_weights = {1, 0};
  options.feed.epochs = 20;
  options.schedule.lr = 0.5;
  run(state, options);
  const at::Tensor logits = state.model->forward(at::rand({50, 1, 9, 20}));
  EXPECT_TRUE(at::all(logits.argmax(1).eq(0)).item<bool>());
}

TEST(LossScale, HalvesWhereAGradientIsNotFiniteAndGrowsAgain) {
  LossScale scale;
  scale.after_step(false);
  EXPECT_EQ(scale.scale, 32768);
  for (int i = 0; i < 2000; ++i) scale.after_step(true);
  EXPECT_EQ(scale.scale, 65536);
}

TEST(Trainer, OptionsThatMakeNoSenseAreErrors) {
  State state = test::new_state();
  Observer observer;
  const auto expect_error = [&](auto change) {
    TrainOptions options = test::small_options();
    change(options);
    EXPECT_THROW(Trainer(state, test::made_up_data(), options, observer), Error);
  };
  expect_error([](TrainOptions& o) { o.feed.epochs = 0; });
  expect_error([](TrainOptions& o) { o.grad_accum_steps = 0; });
  expect_error([](TrainOptions& o) { o.smoothing = 1; });
  expect_error([](TrainOptions& o) { o.clip_grad = -1; });
  expect_error([](TrainOptions& o) { o.feed.batch_size = 0; });
  expect_error([](TrainOptions& o) { o.mix.mixup_alpha = -1; });
  expect_error([](TrainOptions& o) { o.class_weights = {1}; });
  expect_error([](TrainOptions& o) { o.class_weights = {1, -1}; });
}

}  // namespace
}  // namespace stoker
