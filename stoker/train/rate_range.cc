#include "stoker/train/rate_range.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/kept_weights.h"

namespace stoker {
namespace {

// Says early that the loss runs away. What it starts with is divided out.
class RunningMean {
 public:
  double add(double value) {
    constexpr double kKept = 0.9;
    sum_ = kKept * sum_ + (1 - kKept) * value;
    weight_ = kKept * weight_ + (1 - kKept);
    return sum_ / weight_;
  }

 private:
  double sum_ = 0, weight_ = 0;
};

// A single batch's loss jumps too much to have a slope. The mean over both sides of a place, so
// that the curve is not shifted to higher rates.
std::vector<double> smoothed(const std::vector<double>& values) {
  const std::size_t reach = values.size() / 20;
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t near = std::min({reach, i, values.size() - 1 - i});
    double sum = 0;
    for (std::size_t k = i - near; k <= i + near; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(2 * near + 1));
  }
  return means;
}

FeedOptions endless_feed(const TrainData& data, const TrainOptions& options, std::uint32_t steps) {
  const auto samples = data.train->size();
  const auto batch =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(options.feed.batch_size, samples));
  const std::uint64_t per_epoch = samples / batch;
  FeedOptions feed = options.feed;
  feed.batch_size = batch;
  feed.epochs = static_cast<std::uint32_t>(steps / per_epoch + 1);
  feed.batches_per_epoch = 0;
  feed.views = 1;
  feed.drop_last = true;
  feed.normalisation = data.normalisation;
  return feed;
}

}  // namespace

double steepest_rate(const std::vector<double>& rates, const std::vector<double>& losses) {
  // Slopes over a tenth of the curve: shorter ones would follow the noise. Beyond the lowest loss
  // the weights are spoilt, and what falls there is from a height that they should not have.
  const std::size_t span = std::max<std::size_t>(1, losses.size() / 10);
  const auto lowest = std::min_element(losses.begin(), losses.end()) - losses.begin();
  double steepest = 0;
  double rate = rates.front();
  for (std::size_t i = 0; i + span <= static_cast<std::size_t>(lowest); ++i) {
    const double fall = losses[i] - losses[i + span];
    if (fall <= steepest) continue;
    steepest = fall;
    rate = std::sqrt(rates[i] * rates[i + span]);
  }
  return rate;
}

RateRange try_rates(Model& model, const OptimiserOptions& optimiser_options, const TrainData& data,
                    const TrainOptions& options, const RateRangeOptions& range,
                    const std::function<void(std::uint32_t)>& on_step) {
  constexpr double kRunAway = 4;  // times the lowest loss
  const KeptWeights kept(model);
  Optimiser optimiser(model.trainable_stages(), optimiser_options);
  FeedOptions feed_options = endless_feed(data, options, range.steps);
  prepare_feed_for(model.device(), *data.train, feed_options);
  Feed feed(data.train, data.policy, feed_options);
  DeviceBatches batches(feed, model.device(), data.normalisation);
  const double ratio = std::pow(range.highest / range.lowest, 1.0 / (range.steps - 1));
  RateRange result;
  RunningMean mean;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::uint32_t step = 0; step < range.steps; ++step) {
    const auto batch = batches.next();
    STOKER_INVARIANT(batch.has_value(), "the feed ended before step {}", step);
    const double rate = range.lowest * std::pow(ratio, step);
    const at::Tensor labels = task_of(*data.train) == Task::kRegress
                                  ? standardised(batch->labels, data.target_scale)
                                  : batch->labels;
    const Model::Pass pass = model.backward(
        batch->values, labels,
        {.kind = options.loss,
         .smoothing = options.smoothing,
         .weight = options.grad_reduction == GradReduction::kSum
                       ? static_cast<double>(batch->labels.size(0))
                       : 1.0,
         .sample_weights = batch->weights,
         .draw = DrawKey{.seed = options.feed.seed, .batch = batch->number},
         .teacher_logits = data.teacher ? data.teacher->forward(batch->values) : at::Tensor(),
         .distill = options.distill});
    const double loss = pass.loss.item<double>(), recent = mean.add(loss);
    if (!std::isfinite(loss) || recent > kRunAway * lowest) break;
    lowest = std::min(lowest, recent);
    result.rates.push_back(rate);
    result.losses.push_back(loss);
    optimiser.step(rate);
    if (on_step) on_step(step + 1);
  }
  if (result.rates.empty()) {
    throw Error({.what = "no learning rate can be found",
                 .expected = "a finite loss of the untrained network",
                 .found = "none",
                 .hint = "Are the weights whole? Does the normalisation fit the data?"});
  }
  result.losses = smoothed(result.losses);
  result.suggested = steepest_rate(result.rates, result.losses);
  return result;
}

}  // namespace stoker
