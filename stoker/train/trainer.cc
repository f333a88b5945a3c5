#include "stoker/train/trainer.h"

#include <algorithm>
#include <chrono>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/shared_statistics.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/mixing.h"
#include "stoker/train/sample_digest.h"

namespace stoker {
namespace {

using SteadyClock = std::chrono::steady_clock;

// There may be more workers and threads of LibTorch than CPUs. Workers have batches in store; a
// computation that is interrupted is time lost.
constexpr int kFeedNiceness = 10;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// From the first batch to the last; where the run stands is the state's to say.
FeedOptions feed_options(const TrainData& data, const TrainOptions& options, StepSync* sync) {
  const Group* group = sync == nullptr ? nullptr : &sync->group();
  return {.workers = options.workers,
          .batch_size = options.batch_size,
          .epochs = options.epochs,
          .batches_per_epoch = options.batches_per_epoch,
          .drop_last = options.drop_last,
          .seed = options.seed,
          .rank = group == nullptr ? 0 : static_cast<std::uint32_t>(group->rank()),
          .ranks = group == nullptr ? 1 : static_cast<std::uint32_t>(group->ranks()),
          .normalisation = data.normalisation,
          .framing = {.exact_decode = options.exact_decode},
          .niceness = kFeedNiceness,
          .isolate = options.isolate,
          .on_error = options.on_error,
          .max_errors = options.max_errors,
          .stall_limit = options.stall_limit,
          .on_stall = options.on_stall};
}

RunLength run_length(const BatchPlan& plan, const TrainOptions& options) {
  const std::uint64_t batches = plan.batches_per_epoch();
  const std::uint64_t group = options.grad_accum_steps;
  return {.epochs = options.epochs,
          .steps_per_epoch = static_cast<std::int64_t>((batches + group - 1) / group)};
}

TrainOptions checked(const TrainOptions& options) {
  const auto require = [](bool condition, const char* what, const char* expected, double found) {
    if (condition) return;
    throw Error({.what = fmt::format("{} makes no sense", what),
                 .expected = expected,
                 .found = fmt::format("{}", found)});
  };
  require(options.epochs >= 1, "the number of epochs", "at least 1", options.epochs);
  require(options.grad_accum_steps >= 1, "the number of batches a step", "at least 1",
          options.grad_accum_steps);
  require(options.smoothing >= 0 && options.smoothing < 1, "label smoothing", "0 or more, below 1",
          options.smoothing);
  require(options.clip_grad >= 0, "the largest norm of gradients", "0 (any) or more",
          options.clip_grad);
  check_mix(options.mix);
  const bool mixes = options.mix.mixup_alpha > 0 || options.mix.cutmix_alpha > 0;
  require(options.cached_views == 0 || !mixes, "mixing kept features",
          "Mixup and CutMix only with pictures", options.cached_views);
  require(options.cached_views == 0 || options.unfreeze_epoch == 0,
          "unfreezing while features are kept", "one of the two", options.unfreeze_epoch);
  return options;
}

at::Tensor class_weights(const TrainOptions& options, const Model& model) {
  if (options.class_weights.empty()) return {};
  const auto classes = static_cast<std::size_t>(model.input().classes);
  if (options.class_weights.size() != classes) {
    throw Error({.what = "the classes' weights do not fit the data",
                 .expected = fmt::format("{} of them", classes),
                 .found = fmt::format("{}", options.class_weights.size())});
  }
  for (const double weight : options.class_weights) {
    if (weight >= 0) continue;
    throw Error({.what = "a class's weight makes no sense",
                 .expected = "0 or more",
                 .found = fmt::format("{}", weight)});
  }
  return at::tensor(options.class_weights, at::kFloat).to(model.device());
}

// Rows [first, first + count) of a batch of `rows`, which may be 0.
LossOptions loss_of_part(const LossOptions& whole, std::int64_t first, std::int64_t count,
                         std::int64_t rows) {
  LossOptions part = whole;
  if (rows > 0) part.weight *= static_cast<double>(count) / static_cast<double>(rows);
  if (part.draw) {
    part.draw->first_place += static_cast<std::uint32_t>(first) * part.draw->place_step;
  }
  if (part.partner_labels.defined()) {
    part.partner_labels = part.partner_labels.narrow(0, first, count);
  }
  return part;
}

}  // namespace

// Of the epoch under way, in this process.
struct Trainer::Clock {
  SteadyClock::time_point start = SteadyClock::now();
  std::uint64_t samples_before = 0;  // done before this process took over
  double waited_before = 0;
  const BatchStream& batches;

  [[nodiscard]] double seconds() const { return seconds_since(start); }
  [[nodiscard]] double wait_share() const {
    return (batches.waited_seconds() - waited_before) / std::max(1e-9, seconds());
  }
};

Trainer::Trainer(State& state, const TrainData& data, const TrainOptions& options,
                 Observer& observer, std::function<bool()> stop, StepSync* sync)
    : state_(state),
      data_(data),
      options_(checked(options)),
      observer_(observer),
      stop_(std::move(stop)),
      sync_(sync),
      plan_(plan_of(feed_options(data, options, sync), data.train->size())),
      schedule_(options.schedule, run_length(plan_, options)),
      frozen_at_first_(state.model->frozen()),
      class_weights_(class_weights(options, *state.model)) {
  if (options.cached_views == 0 || only_head_learns(*state.model)) return;
  throw Error({.what = "features cannot be kept: they would change while the network learns",
               .expected = "everything frozen but the head (--freeze all)",
               .found = fmt::format("{} of {} stages frozen", state.model->frozen(),
                                    state.model->stages().size())});
}

std::optional<RunEnd> Trainer::end() const {
  if (state_.cursor.epoch >= options_.epochs) return RunEnd::kAllEpochs;
  const bool between_epochs = state_.cursor.position == 0;
  if (options_.patience > 0 && between_epochs && state_.best &&
      state_.cursor.epoch > state_.best->epoch + options_.patience) {
    return RunEnd::kNoProgress;
  }
  return std::nullopt;
}

Trainer::BatchGroup Trainer::next_group() const {
  const std::uint64_t per_epoch = plan_.batches_per_epoch();
  const std::uint64_t begin =
      state_.cursor.epoch * per_epoch + state_.cursor.position / options_.batch_size;
  BatchGroup group{.begin = begin,
                   .end = std::min(begin + options_.grad_accum_steps,
                                   (state_.cursor.epoch + std::uint64_t{1}) * per_epoch)};
  for (std::uint64_t batch = group.begin; batch < group.end; ++batch) {
    group.samples += plan_.batch_samples(batch);
  }
  return group;
}

FeatureBatches Trainer::kept_features(const FeedOptions& options) const {
  const std::uint32_t views = std::min(options_.cached_views, options_.epochs);
  const std::uint64_t total = views * data_.train->size();
  std::uint64_t done = 0;
  std::vector<FeatureSet> sets;
  std::vector<SampleFault> faults;
  for (std::uint32_t view = 0; view < views; ++view) {
    sets.push_back(compute_features(
        *state_.model, data_.train, data_.policy, options, view,
        [&](std::uint64_t more) { observer_.features_done(done += more, total); }, &faults));
  }
  return {std::move(sets), std::move(faults), plan_of(options, data_.train->size()),
          EpochOrder(*data_.train, options_.seed, /*shuffle=*/true)};
}

RunEnd Trainer::run() {
  if (const auto ended = end()) return *ended;
  FeedOptions from_here = feed_options(data_, options_, sync_);
  from_here.begin = state_.cursor;
  if (options_.cached_views > 0) {
    FeatureBatches batches = kept_features(from_here);
    return run_on(batches);
  }
  const at::Device device = state_.model->device();
  prepare_feed_for(device, from_here);
  Feed feed(data_.train, data_.policy, from_here);
  DeviceBatches batches(feed, device, data_.normalisation);
  return run_on(batches);
}

RunEnd Trainer::run_on(BatchStream& batches) {
  while (true) {
    Clock clock{.samples_before = state_.sums.samples,
                .waited_before = batches.waited_seconds(),
                .batches = batches};
    times_ = {};
    const std::uint32_t epoch = state_.cursor.epoch;
    freeze_for(epoch);
    if (sync_ != nullptr) sync_->begin_epoch();
    while (state_.cursor.epoch == epoch) {
      make_step(batches, next_group());
      observer_.step_done(step_report(epoch, clock));
      const bool epoch_ended = state_.cursor.epoch != epoch;
      if (epoch_ended) finish_epoch(epoch, clock);
      observer_.state_settled(state_, epoch_ended);
      if (const auto ended = end()) return *ended;
      if (should_stop()) return RunEnd::kStopped;
    }
  }
}

void Trainer::freeze_for(std::uint32_t epoch) {
  const bool unfrozen = options_.unfreeze_epoch > 0 && epoch >= options_.unfreeze_epoch;
  const std::size_t count = unfrozen ? 0 : frozen_at_first_;
  if (state_.model->frozen() == count) return;
  state_.model->freeze(count);
  if (sync_ != nullptr) sync_->stages_changed();
}

// Ranks stop after the same step, so what they agreed on counts, not what this one would like.
bool Trainer::should_stop() const { return sync_ != nullptr ? sync_->stop() : stop_ && stop_(); }

double Trainer::lap() {
  const auto now = SteadyClock::now();
  const double seconds = std::chrono::duration<double>(now - lap_).count();
  lap_ = now;
  return seconds;
}

DeviceBatch Trainer::take_batch(BatchStream& batches, std::uint64_t number) {
  const double before = batches.waited_seconds();
  auto batch = batches.next();
  STOKER_INVARIANT(batch && batch->number == number, "the feed is not at batch {}", number);
  const double waited = batches.waited_seconds() - before;
  times_.wait += waited;
  times_.copy += std::max(0.0, lap() - waited);
  return *std::move(batch);
}

void Trainer::make_step(BatchStream& batches, const BatchGroup& group) {
  lap();
  marks_ = 0;
  if (sync_ != nullptr) {
    own_ = state_.empty_sums();
    sync_->begin_step();
  }
  for (std::uint64_t number = group.begin; number < group.end; ++number) {
    DeviceBatch batch = take_batch(batches, number);
    marks_ += marks_of(batch);
    const GroupPlace place{.first = number == group.begin, .last = number + 1 == group.end};
    if (sync_ != nullptr && place.last) sync_->start_beat(stop_ && stop_(), marks_);
    train_on(batch, static_cast<double>(batch.labels.size(0)) / static_cast<double>(group.samples),
             place);
  }
  settle_step(group);
}

void Trainer::settle_step(const BatchGroup& group) {
  rate_ = schedule_.rate(static_cast<std::int64_t>(state_.step), state_.plateau);
  if (sync_ != nullptr) {
    sync_->finish_gradients();
    times_.backward += lap();
    sync_->start_sums(own_, static_cast<double>(own_.samples) / static_cast<double>(group.samples));
  }
  apply_gradients();
  if (sync_ != nullptr) {
    sync_->finish_sums(state_.sums);
    state_.sums.samples += group.samples;
    marks_ = sync_->marks();
  }
  if (state_.average) state_.average->update(state_.step);
  state_.samples_digest = next_digest(state_.samples_digest, marks_);
  times_.step += lap();
  ++state_.step;
  state_.cursor = plan_.cursor_before(group.end);
}

std::uint64_t Trainer::marks_of(const DeviceBatch& batch) const {
  const BatchPlan::Share share = plan_.share(batch.number);
  std::uint64_t marks = 0, position = share.first_position;
  for (const std::uint64_t index : batch.indices) {
    marks += sample_mark(share.epoch, position, index);
    position += plan_.step();
  }
  return marks;
}

void Trainer::apply_gradients() {
  Optimiser& optimiser = state_.optimiser;
  if (state_.model->precision() == Precision::kFloat16) {
    const bool finite = optimiser.unscale_gradients(state_.loss_scale.scale);
    state_.loss_scale.after_step(finite);
    if (!finite) return optimiser.forget_gradients();
  }
  if (options_.clip_grad > 0) optimiser.clip_gradients(options_.clip_grad);
  optimiser.step(rate_);
}

// Rows of a batch are places of the global one.
DrawKey Trainer::draw_key(std::uint64_t batch) const {
  const auto rank = sync_ == nullptr ? 0 : static_cast<std::uint32_t>(sync_->group().rank());
  return {.seed = options_.seed, .batch = batch, .first_place = rank, .place_step = plan_.step()};
}

Mix Trainer::mix_of(const DeviceBatch& batch) const {
  const std::uint64_t per_epoch = plan_.batches_per_epoch();
  return draw_mix(options_.mix, options_.seed, static_cast<std::uint32_t>(batch.number / per_epoch),
                  batch.number % per_epoch, batch_shape(batch.values));
}

void Trainer::train_on(DeviceBatch& batch, double weight, const GroupPlace& place) {
  LossOptions loss{.smoothing = options_.smoothing,
                   .weight = weight,
                   .class_weights = class_weights_,
                   .draw = draw_key(batch.number),
                   .forward_done = {}};
  if (state_.model->precision() == Precision::kFloat16) loss.weight *= state_.loss_scale.scale;
  const Mix mix = options_.cached_views > 0 ? Mix{} : mix_of(batch);
  if (mix.kind != Mix::Kind::kNone) {
    mix_pixels(batch.values, mix);
    loss.partner_labels = batch.labels.flip(0);
    loss.own_share = mix.lambda;
  }
  while (true) {
    try {
      return train_on_parts(batch, loss, place.last);
    } catch (const c10::OutOfMemoryError&) {
      // Gradients of earlier batches of the group would be lost with those of this one, and other
      // ranks may be in the middle of a sum.
      const bool can_split = state_.batch_parts * 2 <= batch.labels.size(0);
      if (!place.first || !can_split || sync_ != nullptr) throw;
      state_.optimiser.forget_gradients();
      observer_.batch_split(state_.batch_parts *= 2);
    }
  }
}

Model::Pass Trainer::backward(const at::Tensor& values, const at::Tensor& labels, LossOptions& loss,
                              bool last_of_step) {
  Model& model = *state_.model;
  loss.forward_done = [this, last_of_step] {
    times_.forward += lap();
    if (sync_ != nullptr && last_of_step) sync_->begin_gradients();
  };
  Model::Pass pass;
  const auto run = [&] {
    pass = options_.cached_views > 0 ? model.backward_head(values, labels, loss)
                                     : model.backward(values, labels, loss);
  };
  if (sync_ != nullptr) {
    sync_->pass(run);
  } else if (options_.shared_statistics) {
    const SharedStatistics alone([](const at::Tensor&) {});
    run();
  } else {
    run();
  }
  times_.backward += lap();
  return pass;
}

void Trainer::train_on_parts(const DeviceBatch& batch, const LossOptions& loss,
                             bool last_of_group) {
  const std::int64_t rows = batch.labels.size(0), parts = state_.batch_parts;
  const std::int64_t step = std::max<std::int64_t>(1, (rows + parts - 1) / parts);
  std::vector<Model::Pass> passes;
  // Once where there are no rows: other ranks have some, and all take part in the sums.
  for (std::int64_t first = 0; first == 0 || first < rows; first += step) {
    const std::int64_t count = std::min(step, rows - first);
    LossOptions part = loss_of_part(loss, first, count, rows);
    passes.push_back(backward(batch.values.narrow(0, first, count),
                              batch.labels.narrow(0, first, count), part,
                              last_of_group && first + step >= rows));
  }
  EpochSums& sums = sync_ != nullptr ? own_ : state_.sums;
  std::int64_t first = 0;
  for (const Model::Pass& pass : passes) {
    const std::int64_t count = pass.logits.size(0);
    sums.loss.add_(pass.loss, static_cast<double>(count));
    sums.right.add_(pass.logits.argmax(1).eq(batch.labels.narrow(0, first, count)).sum());
    first += count;
  }
  sums.samples += static_cast<std::uint64_t>(rows);
}

StepReport Trainer::step_report(std::uint32_t epoch, const Clock& clock) const {
  return {.state = state_,
          .epoch = epoch,
          .samples_done = state_.sums.samples,
          .samples_total = plan_.samples_per_epoch(),
          .rate = rate_,
          .seconds = clock.seconds(),
          .wait_share = clock.wait_share(),
          .ranks = sync_ == nullptr ? std::nullopt : std::optional(sync_->times())};
}

EvaluateOptions validation_options(const TrainData& data, const TrainOptions& options) {
  return {.batch_size = options.validation_batch_size,
          .workers = options.workers,
          .top_k = options.top_k,
          .normalisation = data.normalisation,
          .policy = data.validation_policy,
          .isolate = options.isolate};
}

MetricsResult Trainer::validate() {
  const EvaluateOptions options = validation_options(data_, options_);
  const Model& model = *state_.model;
  const auto tell = [this](const Predictions& predictions) { observer_.predicted(predictions); };
  if (!only_head_learns(model)) {
    validation_features_.reset();
    return evaluate(model, data_.validation, options, tell,
                    sync_ == nullptr ? nullptr : &sync_->group());
  }
  if (!validation_features_) {
    validation_features_ = compute_features(model, data_.validation, options.policy,
                                            {.workers = options.workers,
                                             .batch_size = options.batch_size,
                                             .normalisation = options.normalisation,
                                             .isolate = options.isolate},
                                            0);
  }
  return evaluate_features(model, *validation_features_, options, tell);
}

void Trainer::finish_epoch(std::uint32_t epoch, const Clock& clock) {
  const auto samples = static_cast<double>(state_.sums.samples);
  EpochReport report{
      .state = state_,
      .epoch = epoch,
      .rate = rate_,
      .train_loss = state_.sums.loss.item<double>() / samples,
      .train_top1 = static_cast<double>(state_.sums.right.item<std::int64_t>()) / samples,
      .validation = {},
      .seconds = clock.seconds(),
      .wait_share = clock.wait_share(),
      .times = times_,
      .ranks = sync_ == nullptr ? std::nullopt : std::optional(sync_->times()),
      .feed = clock.batches.feed_stats(),
      .faults = clock.batches.faults()};
  report.samples_per_second =
      (samples - static_cast<double>(clock.samples_before)) / std::max(1e-9, report.seconds);
  const WeightAverage::InUse averaged(state_.average ? &*state_.average : nullptr);
  const auto start = SteadyClock::now();
  report.validation = validate();
  report.validation_seconds = seconds_since(start);
  report.is_best = !state_.best || report.validation.top1 > state_.best->top1;
  if (report.is_best) state_.best = {.epoch = epoch, .top1 = report.validation.top1};
  state_.plateau = schedule_.after_epoch(state_.plateau, report.validation.loss);
  state_.clear_sums();
  report.is_last = end().has_value();
  observer_.epoch_done(report);
}

}  // namespace stoker
