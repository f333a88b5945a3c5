#include "stoker/train/teacher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/train/test_runs.h"

namespace stoker {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Model> made_teacher(std::uint64_t seed = 9) {
  return make_model("cnn:4,8", {.image = {9, 20, 1}, .classes = 2}, seed);
}

TrainData data_with(std::shared_ptr<const Model> teacher) {
  TrainData data = test::made_up_data();
  data.teacher = std::move(teacher);
  return data;
}

TrainOptions taught_options(const DistillOptions& distill = {}) {
  TrainOptions options = test::small_options();
  options.distill = distill;
  options.mix.mixup_alpha = 0.2;
  return options;
}

State taught(const TrainData& data, const TrainOptions& options) {
  State state = test::new_state("cnn:4,8");
  Observer nobody;
  Trainer(state, data, options, nobody).run();
  return state;
}

// With all of the loss the teacher's, the labels do not matter: the student comes to agree with it.
TEST(Teacher, IsWhatTheStudentLearns) {
  const auto teacher = made_teacher();
  TrainOptions options = taught_options({.alpha = 1});
  options.mix = {};
  options.feed.epochs = 20;
  const TrainData data = data_with(teacher);
  const State before = test::new_state("cnn:4,8");
  const State after = taught(data, options);
  at::manual_seed(3);
  const at::Tensor x = at::rand({50, 1, 9, 20});
  const auto distance = [&](const State& state) {
    return (state.model->forward(x).softmax(1) - teacher->forward(x).softmax(1))
        .abs()
        .mean()
        .item<double>();
  };
  EXPECT_LT(distance(after), 0.5 * distance(before));
}

TEST(Teacher, StoppingAnywhereChangesNothing) {
  for (const DistillKind kind : {DistillKind::kSoft, DistillKind::kHard}) {
    const TrainData data = data_with(made_teacher());
    TrainOptions options = taught_options({.kind = kind});
    options.grad_accum_steps = 2;
    const State whole = taught(data, options);
    State broken = test::new_state("cnn:4,8");
    Observer nobody;
    const auto stop = [] { return true; };
    while (Trainer(broken, data, options, nobody, stop).run() == RunEnd::kStopped) {
    }
    EXPECT_TRUE(test::same(whole, broken));
  }
}

TEST(Teacher, StaysAsItIs) {
  const auto teacher = made_teacher();
  const std::string before = digest_of_model(*teacher);
  static_cast<void>(taught(data_with(teacher), taught_options()));
  EXPECT_EQ(digest_of_model(*teacher), before);
  for (const NamedTensor& parameter : teacher->parameters()) {
    EXPECT_FALSE(parameter.tensor.grad().defined()) << parameter.name;
  }
}

TEST(Teacher, AnotherOneThanTheRunBeganWithIsRefused) {
  Observer nobody;
  State state = test::new_state("cnn:4,8");
  const auto stop = [] { return true; };
  Trainer(state, data_with(made_teacher()), taught_options(), nobody, stop).run();
  const auto message = [&](std::shared_ptr<const Model> teacher) {
    return message_of([&] { Trainer(state, data_with(teacher), taught_options(), nobody); });
  };
  EXPECT_THAT(message(made_teacher(10)), HasSubstr("began with another teacher"));
  EXPECT_THAT(message(nullptr), HasSubstr("no teacher"));
  State plain = test::new_state("cnn:4,8");
  Trainer(plain, test::made_up_data(), test::small_options(), nobody, stop).run();
  EXPECT_THAT(
      message_of([&] { Trainer(plain, data_with(made_teacher()), taught_options(), nobody); }),
      HasSubstr("no teacher"));
}

TEST(Teacher, WhatDoesNotFitIsRefused) {
  Observer nobody;
  const auto message = [&](const TrainData& data, const TrainOptions& options) {
    State state = test::new_state("cnn:4,8");
    return message_of([&] { Trainer(state, data, options, nobody); });
  };
  const TrainData data = data_with(made_teacher());
  EXPECT_THAT(message(data, taught_options({.alpha = 1.5})), HasSubstr("`distill_alpha`"));
  EXPECT_THAT(message(data, taught_options({.temperature = 0})),
              HasSubstr("`distill_temperature`"));
  TrainOptions cached = taught_options();
  cached.mix = {};
  cached.cached_views = 2;
  EXPECT_THAT(message(data, cached), HasSubstr("`features` fresh"));
  const TrainData other = data_with(make_model("cnn:4", {.image = {9, 20, 1}, .classes = 3}, 1));
  EXPECT_THAT(message(other, taught_options()), HasSubstr("3 classes"));
}

}  // namespace
}  // namespace stoker
