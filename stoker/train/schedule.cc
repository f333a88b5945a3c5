#include "stoker/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/core/suggest.h"
#include "stoker/kernels/warp/affine.h"

namespace stoker {
namespace {

constexpr std::int64_t kMaxSteps = std::int64_t{1} << 53;  // exact in a double

const std::vector<std::string>& names() {
  static const std::vector<std::string> all = {"constant", "step", "cosine", "onecycle", "plateau"};
  return all;
}

// Written so that NaN is refused.
void check_option(std::string_view name, double value, bool holds, std::string_view expected) {
  if (holds && std::isfinite(value)) return;
  throw Error({.what = fmt::format("cannot use this value of {}", name),
               .expected = std::string(expected),
               .found = fmt::format("{}", value)});
}

void check_length(const RunLength& length) {
  const bool positive = length.epochs >= 1 && length.steps_per_epoch >= 1;
  if (positive && length.epochs <= kMaxSteps / length.steps_per_epoch) return;
  throw Error(
      {.what = "cannot plan learning rates for a run of this length",
       .expected = fmt::format("at least one epoch and one step, and at most {} steps", kMaxSteps),
       .found =
           fmt::format("{} epochs of {} optimiser steps", length.epochs, length.steps_per_epoch)});
}

void check_cycle(const ScheduleOptions& o) {
  check_option("pct_start", o.pct_start, o.pct_start >= 0 && o.pct_start <= 1,
               "a share between 0 and 1");
  check_option("div_factor", o.div_factor, o.div_factor >= 1, "1 or more");
  check_option("final_div_factor", o.final_div_factor, o.final_div_factor >= 1, "1 or more");
  if (o.warmup_epochs == 0) return;
  throw Error({.what = "the onecycle schedule has its own warm-up",
               .expected = "warmup_epochs 0",
               .found = fmt::format("{}", o.warmup_epochs),
               .hint = "Leave warmup_epochs out, or take the cosine schedule."});
}

void check_options(const ScheduleOptions& o) {
  check_option("lr", o.lr, o.lr > 0, "a number greater than 0");
  check_option("min_lr", o.min_lr, o.min_lr >= 0 && o.min_lr <= o.lr,
               fmt::format("0 to lr, which is {}", o.lr));
  check_option("warmup_epochs", o.warmup_epochs, o.warmup_epochs >= 0, "0 or more");
  check_option("warmup_lr", o.warmup_lr, o.warmup_lr >= 0, "0 or more");
  check_option("decay_epochs", o.decay_epochs, o.decay_epochs > 0, "a number greater than 0");
  check_option("decay_first_epochs", o.decay_first_epochs, o.decay_first_epochs >= 0, "0 or more");
  check_option("decay_rate", o.decay_rate, o.decay_rate > 0 && o.decay_rate <= 1,
               "greater than 0 and at most 1");
  check_option("patience_epochs", o.patience_epochs, o.patience_epochs >= 0, "0 or more");
  check_option("plateau_threshold", o.plateau_threshold,
               o.plateau_threshold >= 0 && o.plateau_threshold < 1, "0 or more and less than 1");
  if (o.sched == ScheduleKind::kOneCycle) check_cycle(o);
}

void check_warmup(const ScheduleOptions& options, const RunLength& length) {
  if (options.warmup_epochs <= static_cast<double>(length.epochs)) return;
  throw Error({.what = "the warm-up is longer than the run",
               .expected = fmt::format("warmup_epochs of at most {}", length.epochs),
               .found = fmt::format("{}", options.warmup_epochs),
               .hint = "Train for more epochs or shorten the warm-up."});
}

// Rounded to the nearest; a number beyond kMaxSteps means as much as that one.
std::int64_t whole_steps(double epochs, std::int64_t steps_per_epoch) {
  const double steps = std::floor(epochs * static_cast<double>(steps_per_epoch) + 0.5);
  return static_cast<std::int64_t>(std::min(steps, static_cast<double>(kMaxSteps)));
}

// By squaring: the C library's pow may differ between CPUs in its last bit.
double integer_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

// Half a wave of the cosine: `from` where share is 0, `to` where it is 1, flat at both ends.
double half_wave(double from, double to, double share) {
  return to + (from - to) * (1 + sin_cos_degrees(180 * share).cos) / 2;
}

}  // namespace

std::span<const std::string> schedule_names() { return names(); }

std::string_view to_string(ScheduleKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  STOKER_INVARIANT(index < names().size(), "kind={}", index);
  return names()[index];
}

bool depends_on_length(ScheduleKind kind) {
  return kind == ScheduleKind::kCosine || kind == ScheduleKind::kOneCycle;
}

ScheduleKind parse_schedule_kind(std::string_view name) {
  return static_cast<ScheduleKind>(place_of_name(name, names(), "schedule of learning rates"));
}

Schedule::Schedule(const ScheduleOptions& options, const RunLength& length) : options_(options) {
  check_length(length);
  check_options(options);
  check_warmup(options, length);
  total_steps_ = length.epochs * length.steps_per_epoch;
  warmup_steps_ = whole_steps(options.warmup_epochs, length.steps_per_epoch);
  decay_steps_ =
      std::max<std::int64_t>(1, whole_steps(options.decay_epochs, length.steps_per_epoch));
  first_decay_ = options.decay_first_epochs == 0
                     ? decay_steps_
                     : std::max<std::int64_t>(
                           1, whole_steps(options.decay_first_epochs, length.steps_per_epoch));
}

double Schedule::rate(std::int64_t step, const PlateauState& plateau) const {
  STOKER_INVARIANT(step >= 0, "step={}", step);
  const ScheduleOptions& o = options_;
  if (step < warmup_steps_) {
    const double share = static_cast<double>(step) / static_cast<double>(warmup_steps_);
    return o.warmup_lr + (o.lr - o.warmup_lr) * share;
  }
  switch (o.sched) {
    case ScheduleKind::kConstant:
      return o.lr;
    case ScheduleKind::kStep:
      return step_rate(step - warmup_steps_);
    case ScheduleKind::kCosine:
      return cosine_rate(step - warmup_steps_);
    case ScheduleKind::kOneCycle:
      return one_cycle_rate(step);
    case ScheduleKind::kPlateau:
      return std::max(o.lr * plateau.factor, o.min_lr);
  }
  STOKER_INVARIANT(false, "kind={}", static_cast<int>(o.sched));
  return 0;
}

PlateauState Schedule::after_epoch(PlateauState state, double validation_loss) const {
  if (options_.sched != ScheduleKind::kPlateau) return state;
  if (validation_loss < state.best * (1 - options_.plateau_threshold)) {
    state.best = validation_loss;
    state.bad_epochs = 0;
    return state;
  }
  if (++state.bad_epochs > options_.patience_epochs) {
    state.bad_epochs = 0;
    state.factor *= options_.decay_rate;
  }
  return state;
}

double Schedule::step_rate(std::int64_t step) const {
  const std::int64_t last = total_steps_ - 1 - warmup_steps_;
  const std::int64_t at = std::min(step, std::max<std::int64_t>(last, 0));
  const std::int64_t decays = at < first_decay_ ? 0 : 1 + (at - first_decay_) / decay_steps_;
  return std::max(options_.lr * integer_power(options_.decay_rate, decays), options_.min_lr);
}

double Schedule::cosine_rate(std::int64_t step) const {
  const std::int64_t steps = total_steps_ - warmup_steps_;
  if (step >= steps) return options_.min_lr;
  return half_wave(options_.lr, options_.min_lr,
                   static_cast<double>(step) / static_cast<double>(steps));
}

// The peak is at step pct_start * total - 1 and the end at total - 1, as torch's OneCycleLR has it.
double Schedule::one_cycle_rate(std::int64_t step) const {
  const ScheduleOptions& o = options_;
  const double first = o.lr / o.div_factor;
  const double final_rate = first / o.final_div_factor;
  const auto at = static_cast<double>(step);
  const auto end = static_cast<double>(total_steps_ - 1);
  const double peak = o.pct_start * static_cast<double>(total_steps_) - 1;
  if (at >= end && peak < end) return final_rate;
  if (at <= peak) return half_wave(first, o.lr, peak > 0 ? at / peak : 1);
  return half_wave(o.lr, final_rate, end > peak ? (at - peak) / (end - peak) : 0);
}

}  // namespace stoker
