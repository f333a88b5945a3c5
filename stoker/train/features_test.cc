#include "stoker/train/features.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/train/evaluate.h"
#include "stoker/train/test_runs.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

State frozen_state() {
  at::set_num_threads(1);
  auto model = make_model("cnn:4,8", {.image = {9, 20, 1}, .classes = 2}, 1);
  model->freeze(model->stages().size() - 1);
  return {std::move(model), {.kind = OptimiserKind::kAdam}};
}

State trained(std::uint32_t views) {
  State state = frozen_state();
  TrainOptions options = test::small_options();
  options.cached_views = views;
  Observer nobody;
  Trainer(state, test::made_up_data(), options, nobody).run();
  return state;
}

at::Tensor head_of(const State& state) {
  return state.model->stages().back().parameters.front().tensor;
}

TEST(Features, OfALargePerceptronAreTheFastBodys) {
  at::set_num_threads(1);
  for (const auto& [architecture, ends_linear] :
       {std::pair{"mlp:3072,6000,500,10", true},
        std::pair{"mlp:3072,6000,500,10:sigmoid:sigmoid", false}}) {
    auto model = make_model(architecture, {.image = {32, 32, 3}, .classes = 10}, 1);
    model->freeze(model->stages().size() - 1);
    ASSERT_TRUE(only_head_learns(*model));
    const auto body = make_fast_body(*model);
    const at::Tensor x = at::rand({3, 3, 32, 32});
    EXPECT_EQ(body != nullptr, ends_linear);
    if (body == nullptr) continue;
    EXPECT_TRUE(at::allclose(body->forward(x), model->features(x), 1e-4, 1e-5));
  }
}

TEST(Features, AreKeptOnlyWhereNothingButTheHeadLearns) {
  State state = frozen_state();
  EXPECT_TRUE(only_head_learns(*state.model));
  state.model->freeze(1);
  EXPECT_FALSE(only_head_learns(*state.model));
  state.model->freeze(0);
  EXPECT_FALSE(only_head_learns(*state.model));
  TrainOptions options = test::small_options();
  options.cached_views = 2;
  Observer nobody;
  EXPECT_THROW(Trainer(state, test::made_up_data(), options, nobody), Error);
}

TEST(Features, AreNotKeptWhereFrozenNormsAreTrained) {
  State state = frozen_state();
  state.model->train_frozen_norms(true);
  EXPECT_FALSE(only_head_learns(*state.model));
  TrainOptions options = test::small_options();
  options.cached_views = 2;
  Observer nobody;
  const ErrorDetails error =
      error_of([&] { static_cast<void>(Trainer(state, test::made_up_data(), options, nobody)); });
  EXPECT_NE(error.expected.find("`freeze_norms`"), std::string::npos);
  state.model->train_frozen_norms(false);
  EXPECT_TRUE(only_head_learns(*state.model));
}

class ValidationLosses final : public Observer {
 public:
  std::vector<double> losses;
  void epoch_done(const EpochReport& report) override { losses.push_back(report.validation.loss); }
};

// Features of validation that are kept give the same figures as features that are computed anew.
TEST(Features, OfValidationChangeNoFigureWhereTheyAreKept) {
  std::vector<std::vector<double>> runs;
  for (const bool cached : {true, false}) {
    State state = frozen_state();
    TrainOptions options = test::small_options();
    options.cached_validation = cached;
    ValidationLosses observer;
    Trainer(state, test::made_up_data(), options, observer).run();
    runs.push_back(observer.losses);
  }
  EXPECT_EQ(runs[0], runs[1]);
}

// With norms in training mode the statistics move, and validation must see it: what the last epoch
// reported is what the model gives now.
TEST(Features, ValidationFollowsTheRunningStatistics) {
  State state = frozen_state();
  state.model->train_frozen_norms(true);
  const auto before = state.model->buffers().front().tensor.clone();
  ValidationLosses observer;
  const TrainData data = test::made_up_data();
  Trainer(state, data, test::small_options(), observer).run();
  EXPECT_FALSE(at::equal(state.model->buffers().front().tensor, before));
  EXPECT_EQ(evaluate(*state.model, data.validation, {.workers = 1}).loss, observer.losses.back());
}

// With a view for every epoch it is the same training; a convolution may round otherwise in a batch
// of another make-up.
TEST(Features, TrainTheHeadAsTheImagesDo) {
  const State images = trained(0);
  const State kept = trained(test::small_options().feed.epochs);
  EXPECT_FALSE(at::allclose(head_of(images), head_of(frozen_state()), 0, 1e-3));
  EXPECT_TRUE(at::allclose(head_of(images), head_of(kept), 1e-4, 1e-5));
  EXPECT_TRUE(test::same(kept, trained(100)));  // more views than epochs are not made
}

// Of one image and of several: the latter are computed in parts.
TEST(Features, OfTheFastFormTrainTheHead) {
  at::set_num_threads(1);
  const auto model = make_model("cnn:32,64", {.image = {64, 64, 3}, .classes = 2}, 1);
  model->freeze(model->stages().size() - 1);
  const std::unique_ptr<Engine> body = make_fast_body(*model);
  ASSERT_NE(body, nullptr) << model->multiply_adds();
  const at::Tensor head = model->stages().back().parameters.front().tensor;
  for (const std::int64_t samples : {1, 40}) {
    const at::Tensor images = at::rand({samples, 3, 64, 64});
    const at::Tensor labels = at::zeros({samples}, at::kLong);
    static_cast<void>(model->backward(images, labels, {}));
    const at::Tensor expected = head.grad().clone();
    head.mutable_grad().zero_();
    static_cast<void>(model->backward_head(body->forward(images), labels, {}));
    EXPECT_TRUE(at::allclose(head.grad(), expected, 1e-3, 1e-6)) << samples;
    head.mutable_grad().zero_();
  }
}

TEST(Features, FewerViewsAreSeenAgain) {
  EXPECT_FALSE(at::allclose(head_of(trained(1)), head_of(trained(0)), 1e-4, 1e-5));
}

TEST(Features, GiveTheSameValidationToTheBit) {
  const State state = frozen_state();
  const TrainData data = test::made_up_data();
  const EvaluateOptions options{.batch_size = 8, .workers = 2};
  const MetricsResult images = evaluate(*state.model, data.validation, options);
  const FeatureSet set = compute_features(*state.model, nullptr, data.validation, {},
                                          {.workers = 2, .batch_size = 8}, 0);
  const MetricsResult kept = evaluate_features(*state.model, set, options);
  EXPECT_EQ(images.loss, kept.loss);
  EXPECT_EQ(images.confusion, kept.confusion);
}

}  // namespace
}  // namespace stoker
