#include "stoker/train/schedule.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using testing::HasSubstr;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr RunLength kLength{.epochs = 10, .steps_per_epoch = 20};

using Rates = std::vector<std::pair<std::int64_t, double>>;  // step, rate

// Values of torch 2.15 (a wheel for CPUs), printed by this, with N steps and S the line that stands
// above each table:
//   o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1); s = S
//   for i in range(N): print(i, repr(o.param_groups[0]["lr"])); o.step(); s.step()
void expect_rates(const Schedule& schedule, const Rates& expected) {
  for (const auto& [step, rate] : expected) {
    const double error = std::abs(schedule.rate(step) - rate);
    EXPECT_TRUE(error <= 1e-12 * rate) << "step " << step << ": " << schedule.rate(step);
  }
}

std::string refusal(const ScheduleOptions& options, const RunLength& length = kLength) {
  return message_of([&] { Schedule schedule(options, length); });
}

TEST(ScheduleKind, NamesAndKindsAreEachOthersInverse) {
  EXPECT_EQ(schedule_names().size(), 5u);
  for (const std::string& name : schedule_names()) {
    EXPECT_EQ(to_string(parse_schedule_kind(name)), name);
  }
  EXPECT_EQ(parse_schedule_kind("onecycle"), ScheduleKind::kOneCycle);
}

TEST(ScheduleKind, AnUnknownNameIsAnErrorWithAllNames) {
  const std::string message = message_of([] { (void)parse_schedule_kind("cosin"); });
  EXPECT_THAT(message, HasSubstr("constant, step, cosine, onecycle, plateau"));
  EXPECT_THAT(message, HasSubstr("Did you mean cosine?"));
  EXPECT_THAT(message_of([] { (void)parse_schedule_kind(""); }), HasSubstr("got \"\""));
}

TEST(Schedule, ConstantStaysConstant) {
  const Schedule schedule({.lr = 0.3}, kLength);
  for (const std::int64_t step : {0, 1, 199, 200, 100000}) EXPECT_EQ(schedule.rate(step), 0.3);
}

TEST(Schedule, StepEqualsTorch) {
  // StepLR(o, step_size=60, gamma=0.2)
  expect_rates(
      {{.sched = ScheduleKind::kStep, .lr = 0.1, .decay_epochs = 3, .decay_rate = 0.2}, kLength},
      {{0, 0.1},
       {59, 0.1},
       {60, 0.020000000000000004},
       {119, 0.020000000000000004},
       {120, 0.004000000000000001},
       {199, 0.0008000000000000003}});
}

TEST(Schedule, StepStopsAtTheLeastRate) {
  const Schedule schedule(
      {.sched = ScheduleKind::kStep, .lr = 1, .min_lr = 0.2, .decay_epochs = 1, .decay_rate = 0.5},
      kLength);
  EXPECT_EQ(schedule.rate(20), 0.5);
  EXPECT_EQ(schedule.rate(40), 0.25);
  EXPECT_EQ(schedule.rate(60), 0.2);
}

// StepLR(step_size=7) whose step() stands at the beginning of each train phase, as the course
// project has it: six epochs with the first rate, then seven with each.
TEST(Schedule, TheFirstRateOfStepMayLastAnotherTime) {
  const Schedule schedule(
      {.sched = ScheduleKind::kStep, .lr = 1e-3, .decay_epochs = 7, .decay_first_epochs = 6},
      {.epochs = 30, .steps_per_epoch = 4});
  for (std::int64_t epoch = 0; epoch < 30; ++epoch) {
    const std::int64_t decays = (epoch + 1) / 7;
    for (std::int64_t step = 0; step < 4; ++step) {
      EXPECT_DOUBLE_EQ(schedule.rate(epoch * 4 + step),
                       1e-3 * std::pow(0.1, static_cast<double>(decays)))
          << epoch;
    }
  }
  EXPECT_THROW(Schedule({.sched = ScheduleKind::kStep, .decay_first_epochs = -1},
                        {.epochs = 2, .steps_per_epoch = 1}),
               Error);
}

TEST(Schedule, StepTakesFractionsOfAnEpoch) {
  const Schedule schedule(
      {.sched = ScheduleKind::kStep, .lr = 1, .decay_epochs = 0.25, .decay_rate = 0.5}, kLength);
  EXPECT_EQ(schedule.rate(4), 1);
  EXPECT_EQ(schedule.rate(5), 0.5);
  EXPECT_EQ(schedule.rate(10), 0.25);
  // Rounds to no step at all: then every step decays.
  const Schedule tiny(
      {.sched = ScheduleKind::kStep, .lr = 1, .decay_epochs = 1e-9, .decay_rate = 0.5}, kLength);
  EXPECT_EQ(tiny.rate(3), 0.125);
}

TEST(Schedule, CosineEqualsTorch) {
  // CosineAnnealingLR(o, T_max=200, eta_min=0.001)
  expect_rates({{.sched = ScheduleKind::kCosine, .lr = 0.1, .min_lr = 0.001}, kLength},
               {{0, 0.1},
                {1, 0.09999389330784221},
                {50, 0.08550178566873409},
                {100, 0.050499999999999996},
                {150, 0.015498214331265893},
                {199, 0.001006106692157801}});
}

TEST(Schedule, CosineEqualsItsFormulaAtEveryStep) {
  const Schedule schedule({.sched = ScheduleKind::kCosine, .lr = 0.7, .min_lr = 0.01},
                          {.epochs = 7, .steps_per_epoch = 131});
  for (std::int64_t step = 0; step < 917; ++step) {
    const double angle = std::numbers::pi * static_cast<double>(step) / 917;
    EXPECT_NEAR(schedule.rate(step), 0.01 + 0.69 * (1 + std::cos(angle)) / 2, 1e-15);
  }
  EXPECT_EQ(schedule.rate(917), 0.01);
  EXPECT_EQ(schedule.rate(5000), 0.01);
}

TEST(Schedule, OneCycleEqualsTorch) {
  // OneCycleLR(o, max_lr=0.1, total_steps=200)
  expect_rates({{.sched = ScheduleKind::kOneCycle, .lr = 0.1}, kLength},
               {{0, 0.0040000000000000036},
                {1, 0.004068030607515441},
                {30, 0.05327778502901319},
                {59, 0.1},
                {60, 0.09998741179747835},
                {100, 0.08028958103403223},
                {150, 0.027300765811122615},
                {198, 1.2988202521661969e-05},
                {199, 4e-07}});
  // OneCycleLR(o, max_lr=0.1, total_steps=10)
  expect_rates({{.sched = ScheduleKind::kOneCycle, .lr = 0.1}, {.epochs = 2, .steps_per_epoch = 5}},
               {{0, 0.0040000000000000036},
                {1, 0.052000000000000005},
                {2, 0.1},
                {3, 0.09504846320134738},
                {5, 0.06112620219362893},
                {8, 0.004951936798652629},
                {9, 4e-07}});
}

TEST(Schedule, OneCycleIsFiniteForTheShortestRuns) {
  for (std::int64_t steps = 1; steps <= 12; ++steps) {
    for (const double start : {0.0, 0.1, 0.25, 0.5, 1.0}) {
      const Schedule schedule({.sched = ScheduleKind::kOneCycle, .lr = 0.1, .pct_start = start},
                              {.epochs = 1, .steps_per_epoch = steps});
      for (std::int64_t step = 0; step < steps + 3; ++step) {
        const double rate = schedule.rate(step);
        EXPECT_TRUE(rate > 0 && rate <= 0.1) << rate << " of " << steps << " from " << start;
      }
    }
  }
}

TEST(Schedule, OneCycleKeepsItsLastRate) {
  const Schedule schedule({.sched = ScheduleKind::kOneCycle, .lr = 0.1}, kLength);
  EXPECT_EQ(schedule.rate(200), schedule.rate(199));
  EXPECT_EQ(schedule.rate(100000), schedule.rate(199));
}

TEST(Schedule, WarmUpBeforeCosineEqualsTorch) {
  // SequentialLR(o, [LinearLR(o, start_factor=0.01, total_iters=40),
  //                  CosineAnnealingLR(o, T_max=160, eta_min=0.001)], milestones=[40])
  const ScheduleOptions options{.sched = ScheduleKind::kCosine,
                                .lr = 0.1,
                                .min_lr = 0.001,
                                .warmup_epochs = 2,
                                .warmup_lr = 0.001};
  expect_rates({options, kLength}, {{0, 0.001},
                                    {1, 0.003475},
                                    {20, 0.050499999999999975},
                                    {39, 0.09752499999999993},
                                    {40, 0.1},
                                    {41, 0.09999045840386221},
                                    {120, 0.05049999999999996},
                                    {199, 0.0010095415961377916}});
}

TEST(Schedule, WarmUpBeforeStepEqualsTorch) {
  // SequentialLR(o, [LinearLR(o, start_factor=0.01, total_iters=40), StepLR(o, 60, 0.2)],
  //              milestones=[40])
  const ScheduleOptions options{.sched = ScheduleKind::kStep,
                                .lr = 0.1,
                                .warmup_epochs = 2,
                                .warmup_lr = 0.001,
                                .decay_epochs = 3,
                                .decay_rate = 0.2};
  expect_rates({options, kLength}, {{0, 0.001},
                                    {39, 0.09752499999999993},
                                    {40, 0.1},
                                    {99, 0.1},
                                    {100, 0.020000000000000004},
                                    {160, 0.004000000000000001},
                                    {199, 0.004000000000000001}});
}

TEST(Schedule, WarmUpMayFillTheWholeRun) {
  for (const ScheduleKind kind : {ScheduleKind::kConstant, ScheduleKind::kStep,
                                  ScheduleKind::kCosine, ScheduleKind::kPlateau}) {
    const Schedule schedule({.sched = kind, .lr = 1, .warmup_epochs = 10, .warmup_lr = 0}, kLength);
    EXPECT_EQ(schedule.rate(0), 0);
    EXPECT_EQ(schedule.rate(50), 0.25);
    EXPECT_EQ(schedule.rate(199), 0.995);
    EXPECT_TRUE(std::isfinite(schedule.rate(200))) << to_string(kind);
  }
}

TEST(Schedule, PlateauEqualsTorch) {
  // s = ReduceLROnPlateau(o, factor=0.5, patience=2, min_lr=0.02)
  // for loss in losses: s.step(loss); print(o.param_groups[0]["lr"])
  const std::vector<double> losses = {1.0, 0.9,         0.9,  0.8999,  0.95, 0.91,
                                      0.8, kNotANumber, 0.85, 0.79999, 0.81, 0.5,
                                      0.6, 0.6,         0.6,  0.6,     0.6,  0.6};
  const std::vector<double> rates = {0.1,  0.1,  0.1,  0.1,  0.1,  0.1,   0.1,   0.1,   0.1,
                                     0.05, 0.05, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.02};
  const Schedule schedule({.sched = ScheduleKind::kPlateau,
                           .lr = 0.1,
                           .min_lr = 0.02,
                           .decay_rate = 0.5,
                           .patience_epochs = 2},
                          kLength);
  PlateauState state;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    state = schedule.after_epoch(state, losses[i]);
    EXPECT_DOUBLE_EQ(schedule.rate(7, state), rates[i]) << i;
  }
}

TEST(Schedule, PlateauWithoutPatienceDecaysAfterTheFirstBadEpoch) {
  const Schedule schedule(
      {.sched = ScheduleKind::kPlateau, .lr = 1, .decay_rate = 0.5, .patience_epochs = 0}, kLength);
  PlateauState state = schedule.after_epoch({}, 1.0);
  EXPECT_EQ(state, (PlateauState{.best = 1.0}));
  state = schedule.after_epoch(state, 1.0);
  EXPECT_EQ(state, (PlateauState{.best = 1.0, .bad_epochs = 0, .factor = 0.5}));
}

TEST(Schedule, OnlyPlateauListensToTheLoss) {
  for (const ScheduleKind kind : {ScheduleKind::kConstant, ScheduleKind::kStep,
                                  ScheduleKind::kCosine, ScheduleKind::kOneCycle}) {
    const Schedule schedule({.sched = kind, .patience_epochs = 0}, kLength);
    EXPECT_EQ(schedule.after_epoch({}, 3.0), PlateauState{});
    EXPECT_EQ(schedule.rate(30, {.factor = 0.1}), schedule.rate(30));
  }
}

TEST(Schedule, RefusesOptionsOutOfRange) {
  EXPECT_THAT(refusal({.lr = 0}), HasSubstr("value of lr. Expected a number greater than 0"));
  EXPECT_THAT(refusal({.lr = kNotANumber}), HasSubstr("got nan"));
  EXPECT_THAT(refusal({.lr = std::numeric_limits<double>::infinity()}), HasSubstr("value of lr"));
  EXPECT_THAT(refusal({.lr = 0.1, .min_lr = 0.2}), HasSubstr("min_lr. Expected 0 to lr"));
  EXPECT_THAT(refusal({.warmup_epochs = -1}), HasSubstr("warmup_epochs"));
  EXPECT_THAT(refusal({.warmup_lr = -1}), HasSubstr("warmup_lr"));
  EXPECT_THAT(refusal({.decay_epochs = 0}), HasSubstr("decay_epochs"));
  EXPECT_THAT(refusal({.decay_rate = 1.5}), HasSubstr("decay_rate"));
  EXPECT_THAT(refusal({.patience_epochs = -1}), HasSubstr("patience_epochs"));
  EXPECT_THAT(refusal({.plateau_threshold = 1}), HasSubstr("plateau_threshold"));
  const auto cycle = ScheduleKind::kOneCycle;
  EXPECT_THAT(refusal({.sched = cycle, .pct_start = 1.5}), HasSubstr("pct_start"));
  EXPECT_THAT(refusal({.sched = cycle, .div_factor = 0}), HasSubstr("div_factor"));
  EXPECT_THAT(refusal({.sched = cycle, .final_div_factor = 0.5}), HasSubstr("final_div_factor"));
}

TEST(Schedule, RefusesWarmUpsThatCannotBe) {
  EXPECT_THAT(refusal({.warmup_epochs = 11}), HasSubstr("warmup_epochs of at most 10"));
  EXPECT_THAT(refusal({.sched = ScheduleKind::kOneCycle, .warmup_epochs = 1}),
              HasSubstr("its own warm-up"));
}

TEST(Schedule, RefusesRunsWithoutStepsOrWithTooMany) {
  EXPECT_THAT(refusal({}, {.epochs = 0, .steps_per_epoch = 5}), HasSubstr("0 epochs"));
  EXPECT_THAT(refusal({}, {.epochs = 5, .steps_per_epoch = 0}), HasSubstr("of 0 optimiser steps"));
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refusal({}, {.epochs = kHuge, .steps_per_epoch = kHuge}), HasSubstr("at most"));
}

TEST(Schedule, HugeDecayEpochsNeverDecay) {
  const Schedule schedule({.sched = ScheduleKind::kStep, .lr = 1, .decay_epochs = 1e300}, kLength);
  EXPECT_EQ(schedule.rate(199), 1);
}

}  // namespace
}  // namespace stoker
