#include "stoker/train/loss_watch.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/invariant.h"

namespace stoker {

LossWatch::LossWatch(std::int64_t classes)
    : guessing_(std::log(static_cast<double>(std::max<std::int64_t>(2, classes)))) {}

void LossWatch::note(const at::Tensor& epoch_sum, std::uint64_t step_samples, bool first_of_epoch) {
  STOKER_INVARIANT(count_ < kStepsBetweenLooks, "{} steps without a look", count_);
  if (!sums_.defined()) sums_ = at::zeros({kStepsBetweenLooks}, epoch_sum.options());
  sums_.select(0, count_).copy_(epoch_sum);
  noted_[static_cast<std::size_t>(count_++)] = {.samples = step_samples,
                                                .first_of_epoch = first_of_epoch};
}

// Where the loss explodes within the first steps, their mean says nothing: the loss before the
// first step changed a weight does. Noise of single steps is no reason for a lower limit.
double LossWatch::limit(const LossWatchNumbers& numbers) const {
  const double first_mean = numbers.first_sum / static_cast<double>(kFirstSteps);
  const double sound = std::min(first_mean, std::max(numbers.first_loss, guessing_));
  return std::max(kMostGrowth * sound, guessing_);
}

void LossWatch::add(LossWatchNumbers& numbers, double loss) const {
  numbers.finite = numbers.finite && std::isfinite(loss);
  if (numbers.steps == 0) numbers.first_loss = loss;
  if (numbers.steps < kFirstSteps) {
    numbers.first_sum += loss;
    numbers.mean = numbers.first_sum / static_cast<double>(numbers.steps + 1);
  } else {
    numbers.mean += (loss - numbers.mean) / static_cast<double>(kFirstSteps);
    if (numbers.steps_above < kMostStepsAbove) {
      numbers.steps_above = numbers.mean > limit(numbers) ? numbers.steps_above + 1 : 0;
    }
  }
  ++numbers.steps;
}

LossWatchNumbers LossWatch::numbers() const {
  LossWatchNumbers numbers = numbers_;
  if (count_ == 0) return numbers;
  const at::Tensor sums = sums_.to(at::kCPU);
  const auto* sum = sums.const_data_ptr<double>();
  for (std::int64_t i = 0; i < count_; ++i) {
    const Step& step = noted_[static_cast<std::size_t>(i)];
    const double before = step.first_of_epoch ? 0 : numbers.epoch_sum;
    add(numbers, (sum[i] - before) / static_cast<double>(std::max<std::uint64_t>(1, step.samples)));
    numbers.epoch_sum = sum[i];
  }
  return numbers;
}

void LossWatch::set(const LossWatchNumbers& numbers) {
  numbers_ = numbers;
  count_ = 0;
}

std::optional<std::string> LossWatch::look() {
  set(numbers());
  return verdict();
}

std::optional<std::string> LossWatch::verdict() const {
  if (!numbers_.finite) return "the loss is not finite";
  if (numbers_.steps_above < kMostStepsAbove) return std::nullopt;
  return fmt::format(
      "the loss has been above {:.3g} for {} steps, {:.0f} times that of the first {} steps",
      limit(numbers_), kMostStepsAbove, kMostGrowth, kFirstSteps);
}

}  // namespace stoker
