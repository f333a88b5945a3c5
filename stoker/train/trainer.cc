#include "stoker/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/data/order/sampler.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/train/detail/checked_options.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/flush_subnormals.h"
#include "stoker/train/local_sync.h"
#include "stoker/train/mixing.h"
#include "stoker/train/sample_digest.h"
#include "stoker/train/single_samples.h"
#include "stoker/train/teacher.h"
#include "stoker/train/training_feed.h"

namespace stoker {
namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

RunLength run_length(const BatchPlan& plan, const TrainOptions& options) {
  const std::uint64_t batches = plan.batches_per_epoch();
  const std::uint64_t group = options.grad_accum_steps;
  return {.epochs = options.feed.epochs,
          .steps_per_epoch = static_cast<std::int64_t>((batches + group - 1) / group)};
}

// When a sample that does not come is no longer waited for: at once, unless a step needs it; then
// it is waited for, but not for ever.
std::function<bool()> when_to_give_up(const std::function<bool()>& stop,
                                      std::function<bool()> step_needs_it) {
  if (!stop) return stop;
  return [stop, step_needs_it = std::move(step_needs_it),
          asked = std::optional<SteadyClock::time_point>()]() mutable {
    constexpr std::chrono::seconds kForTheStep{30};
    if (!stop()) return false;
    if (!step_needs_it()) return true;
    if (!asked) asked = SteadyClock::now();
    return SteadyClock::now() - *asked >= kForTheStep;
  };
}

// Rows [first, first + count) of a batch of `rows`, which may be 0.
LossOptions loss_of_part(const LossOptions& whole, std::int64_t first, std::int64_t count,
                         std::int64_t rows) {
  LossOptions part = whole;
  if (rows > 0) part.weight *= static_cast<double>(count) / static_cast<double>(rows);
  if (part.draw) {
    part.draw->first_place += static_cast<std::uint32_t>(first) * part.draw->place_step;
  }
  for (at::Tensor* rows_of : {&part.partner_labels, &part.sample_weights, &part.partner_weights}) {
    if (rows_of->defined()) *rows_of = rows_of->narrow(0, first, count);
  }
  return part;
}

}  // namespace

// Of the epoch under way, in this process.
struct Trainer::Clock {
  SteadyClock::time_point start = SteadyClock::now();
  std::uint64_t samples_before = 0;  // done before this process took over
  double waited_before = 0;
  const BatchStream* batches = nullptr;  // null: no step of the epoch was made here

  [[nodiscard]] double seconds() const { return batches == nullptr ? 0 : seconds_since(start); }
  [[nodiscard]] double wait_share() const {
    if (batches == nullptr) return 0;
    return (batches->waited_seconds() - waited_before) / std::max(1e-9, seconds());
  }
};

Trainer::Trainer(State& state, const TrainData& data, const TrainOptions& options,
                 Observer& observer, std::function<bool()> stop)
    : Trainer(state, data, options, observer, std::move(stop),
              std::make_unique<LocalSync>(state, options.shared_statistics)) {}

Trainer::Trainer(State& state, const TrainData& data, const TrainOptions& options,
                 Observer& observer, std::function<bool()> stop, std::unique_ptr<StepSync> sync)
    : Trainer(state, data, options, observer, std::move(stop), *sync) {
  own_sync_ = std::move(sync);
}

Trainer::Trainer(State& state, const TrainData& data, const TrainOptions& options,
                 Observer& observer, std::function<bool()> stop, StepSync& sync)
    : state_(state),
      data_(data),
      options_(detail::checked(options)),
      observer_(observer),
      stop_(std::move(stop)),
      sync_(sync),
      plan_(plan_of(training_feed_options(data, options, sync_.group()), data.train->size())),
      schedule_(options.schedule, run_length(plan_, options)),
      task_(task_of(*data.train)),
      frozen_at_first_(state.model->frozen()),
      class_weights_(detail::class_weights(options, *state.model)) {
  // Ranks agree to stop in their steps; a group of batches would be lost with what it has added up.
  options_.feed.give_up =
      when_to_give_up(stop_, [this] { return sync_.group() != nullptr || !is_settled_; });
  check_loss(task_, options.loss);
  join_teacher(state, data.teacher.get(), options, task_);
  // Ranks ask before they meet: the passes of this question would look like training to the sums.
  if (sync.group() == nullptr) refuse_single_samples(*state.model, data, options, /*ranks=*/1);
  if (options.cached_views == 0 || only_head_learns(*state.model)) return;
  throw Error({.what = "features cannot be kept: they would change while the network learns",
               .expected = "everything frozen but the head, norms included (`freeze` all "
                           "`freeze_norms`)",
               .found = fmt::format("{} of {} stages frozen, norms {}", state.model->frozen(),
                                    state.model->stages().size(),
                                    state.model->trains_frozen_norms() ? "trained" : "frozen")});
}

std::optional<RunEnd> Trainer::end() const {
  if (state_.cursor.epoch >= options_.feed.epochs) return RunEnd::kAllEpochs;
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
      state_.cursor.epoch * per_epoch + state_.cursor.position / options_.feed.batch_size;
  BatchGroup group{.begin = begin,
                   .end = std::min(begin + options_.grad_accum_steps,
                                   (state_.cursor.epoch + std::uint64_t{1}) * per_epoch)};
  for (std::uint64_t batch = group.begin; batch < group.end; ++batch) {
    group.samples += plan_.batch_samples(batch);
  }
  return group;
}

FeatureBatches Trainer::kept_features(const FeedOptions& options) {
  const auto start = SteadyClock::now();
  const auto views = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      options_.cached_views, std::uint64_t{options_.feed.epochs} * plan_.passes_per_epoch()));
  const std::uint64_t total = views * data_.train->size();
  std::uint64_t done = 0;
  std::vector<FeatureSet> sets;
  std::vector<SampleFault> faults;
  prepare_frozen_body();
  for (std::uint32_t view = 0; view < views; ++view) {
    sets.push_back(compute_features(
        *state_.model, frozen_body_.get(), data_.train, data_.policy, options, view,
        [&](std::uint64_t more) { observer_.features_done(done += more, total); }, &faults));
  }
  features_seconds_ = seconds_since(start);
  return {std::move(sets), std::move(faults), plan_of(options, data_.train->size()),
          EpochOrder(*data_.train, options_.feed.seed, /*shuffle=*/true)};
}

RunEnd Trainer::run() {
  const FlushSubnormals flush;
  try {
    return run_to_the_end();
  } catch (const FeedGivenUp& error) {
    if (is_settled_) return RunEnd::kStopped;
    ErrorDetails details = error.details();
    details.hint = "The state amid a step cannot be saved: resume from the last checkpoint";
    throw Error(std::move(details));
  }
}

RunEnd Trainer::run_to_the_end() {
  if (state_.awaits_validation()) {
    if (const auto ended = make_up_for_validation()) return *ended;
  }
  if (const auto ended = end()) return *ended;
  FeedOptions from_here = training_feed_options(data_, options_, sync_.group());
  from_here.begin = state_.cursor;
  if (options_.cached_views > 0) {
    FeatureBatches batches = kept_features(from_here);
    return run_on(batches);
  }
  const at::Device device = state_.model->device();
  prepare_feed_for(device, *data_.train, from_here);
  Feed feed(data_.train, data_.policy, from_here);
  DeviceBatches batches(feed, device, data_.normalisation);
  return run_on(batches);
}

std::optional<RunEnd> Trainer::make_up_for_validation() {
  const std::uint32_t epoch = state_.cursor.epoch - 1;
  freeze_for(epoch);
  rate_ = schedule_.rate(static_cast<std::int64_t>(state_.step) - 1, state_.plateau);
  finish_epoch(epoch, {.samples_before = state_.sums.samples});
  observer_.state_settled(state_, /*epoch_ended=*/true);
  // Ranks have agreed on nothing yet: they ask again after their next step.
  if (!end() && sync_.should_stop(stop_)) return RunEnd::kStopped;
  return std::nullopt;
}

bool Trainer::has_diverged(const BatchGroup& group) {
  const bool epoch_ended = state_.cursor.position == 0;
  const bool first_of_epoch = state_.sums.samples == group.samples;
  state_.loss_watch.note(state_.sums.loss, group.samples, first_of_epoch);
  if (!epoch_ended && !LossWatch::is_time_to_look(state_.step)) return false;
  const auto how = state_.loss_watch.look();
  if (!how) return false;
  if (!told_divergence_) observer_.diverged(state_, *how);
  told_divergence_ = true;
  return options_.on_divergence == OnDivergence::kStop;
}

RunEnd Trainer::run_on(BatchStream& batches) {
  while (true) {
    Clock clock{.samples_before = state_.sums.samples,
                .waited_before = batches.waited_seconds(),
                .batches = &batches};
    times_ = {};
    const std::uint32_t epoch = state_.cursor.epoch;
    freeze_for(epoch);
    sync_.begin_epoch();
    while (state_.cursor.epoch == epoch) {
      const BatchGroup group = next_group();
      make_step(batches, group);
      if (has_diverged(group)) return RunEnd::kDiverged;
      observer_.step_done(step_report(epoch, clock));
      const bool epoch_ended = state_.cursor.epoch != epoch;
      if (epoch_ended) finish_epoch(epoch, clock);
      observer_.state_settled(state_, epoch_ended);
      if (const auto ended = end()) return *ended;
      if (sync_.should_stop(stop_)) return RunEnd::kStopped;
    }
  }
}

void Trainer::freeze_for(std::uint32_t epoch) {
  const bool unfrozen = options_.unfreeze_epoch > 0 && epoch >= options_.unfreeze_epoch;
  const std::size_t count = unfrozen ? 0 : frozen_at_first_;
  if (state_.model->frozen() != count) {
    state_.model->freeze(count);
    sync_.stages_changed();
  }
  prepare_frozen_body();
}

void Trainer::prepare_frozen_body() {
  if (!only_head_learns(*state_.model)) {
    frozen_body_.reset();
  } else if (!frozen_body_) {
    frozen_body_ = make_fast_body(*state_.model);
  }
}

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
  if (task_ == Task::kRegress) batch->labels = standardised(batch->labels, data_.target_scale);
  return *std::move(batch);
}

void Trainer::make_step(BatchStream& batches, const BatchGroup& group) {
  lap();
  marks_ = 0;
  sync_.begin_step();
  for (std::uint64_t number = group.begin; number < group.end; ++number) {
    DeviceBatch batch = take_batch(batches, number);
    marks_ += marks_of(batch);
    is_settled_ = false;
    const GroupPlace place{.first = number == group.begin, .last = number + 1 == group.end};
    if (place.last) sync_.start_beat(stop_, marks_);
    // The pass makes a mean over the batch; weights of all batches and ranks add up to that of the
    // step, 1 or the number of its samples.
    const auto own = static_cast<double>(batch.labels.size(0));
    const bool sum = options_.grad_reduction == GradReduction::kSum;
    train_on_views(batch, sum ? own : own / static_cast<double>(group.samples), place);
  }
  settle_step(group);
  is_settled_ = true;
}

void Trainer::settle_step(const BatchGroup& group) {
  rate_ = schedule_.rate(static_cast<std::int64_t>(state_.step), state_.plateau);
  sync_.finish_gradients();
  times_.backward += lap();
  sync_.start_sums(group.samples);
  apply_gradients();
  sync_.finish_sums(group.samples);
  if (state_.average) state_.average->update(state_.step);
  state_.samples_digest = next_digest(state_.samples_digest, sync_.marks());
  times_.step += lap();
  ++state_.step;
  state_.cursor = plan_.cursor_before(group.end);
  const bool epoch_ended = state_.cursor.position == 0;
  if (state_.average && epoch_ended) state_.average->end_epoch(state_.cursor.epoch - 1);
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
  return {.seed = view_key({.seed = options_.feed.seed}, view_).seed,
          .batch = batch,
          .first_place = plan_.rank(),
          .place_step = plan_.step()};
}

Mix Trainer::mix_of(const DeviceBatch& batch) const {
  const std::uint64_t per_epoch = plan_.batches_per_epoch();
  return draw_mix(options_.mix, view_key({.seed = options_.feed.seed}, view_).seed,
                  static_cast<std::uint32_t>(batch.number / per_epoch), batch.number % per_epoch,
                  batch_shape(batch.values));
}

// Each view is a pass of its own, so a batch needs no more memory than one view does. What is drawn
// for a batch (dropout, pairs to mix) is drawn anew for each view.
void Trainer::train_on_views(const DeviceBatch& batch, double weight, const GroupPlace& place) {
  const std::uint32_t views = options_.cached_views > 0 ? 1 : options_.feed.views;
  const EpochSums before{.loss = {}, .right = {}, .samples = sync_.sums().samples};
  for (std::uint32_t view = 0; view < views; ++view) {
    DeviceBatch one = batch;
    if (views > 1) one.values = batch.values.select(1, view).contiguous();
    view_ = view;
    train_on(one, weight / views,
             {.first = place.first && view == 0, .last = place.last && view + 1 == views});
  }
  sync_.sums().samples = before.samples + static_cast<std::uint64_t>(batch.labels.size(0));
}

void Trainer::train_on(DeviceBatch& batch, double weight, const GroupPlace& place) {
  LossOptions loss{.kind = options_.loss,
                   .smoothing = options_.smoothing,
                   .weight = weight,
                   .class_weights = class_weights_,
                   .sample_weights = batch.weights,
                   .draw = draw_key(batch.number),
                   .distill = options_.distill,
                   .forward_done = {}};
  if (state_.model->precision() == Precision::kFloat16) loss.weight *= state_.loss_scale.scale;
  const Mix mix = options_.cached_views > 0 ? Mix{} : mix_of(batch);
  if (mix.kind != Mix::Kind::kNone) {
    mix_pixels(batch.values, mix);
    loss.partner_labels = batch.labels.flip(0);
    if (batch.weights.defined()) loss.partner_weights = batch.weights.flip(0);
    loss.own_share = mix.lambda;
  }
  while (true) {
    try {
      return train_on_parts(batch, loss, place.last);
    } catch (const c10::OutOfMemoryError&) {
      // Gradients of earlier batches of the group would be lost with those of this one, and other
      // ranks may be in the middle of a sum.
      const bool can_split = std::int64_t{state_.batch_parts} * 2 <= batch.labels.size(0);
      if (!place.first || !can_split || !sync_.can_repeat_pass()) throw;
      state_.optimiser.forget_gradients();
      sync_.forget_passes();
      observer_.batch_split(state_.batch_parts *= 2);
    }
  }
}

Model::Pass Trainer::backward(const at::Tensor& values, const at::Tensor& labels, LossOptions& loss,
                              bool last_of_step) {
  Model& model = *state_.model;
  loss.forward_done = [this, last_of_step] {
    times_.forward += lap();
    if (last_of_step) sync_.begin_gradients();
  };
  if (data_.teacher && values.size(0) > 0) loss.teacher_logits = data_.teacher->forward(values);
  Model::Pass pass;
  sync_.pass([&] {
    if (options_.cached_views > 0) {
      pass = model.backward_head(values, labels, loss);
    } else if (frozen_body_ && values.size(0) > 0) {
      pass = model.backward_head(frozen_body_->forward(values), labels, loss);
    } else {
      pass = model.backward(values, labels, loss);
    }
  });
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
  // Of several views, the loss is their mean, and the first one's predictions are counted. What
  // needs memory comes first: nothing is counted twice where there is none.
  std::vector<at::Tensor> right;
  std::int64_t first = 0;
  for (const Model::Pass& pass : passes) {
    if (task_ != Task::kClassify || view_ != 0) break;
    const std::int64_t count = pass.logits.size(0);
    right.push_back(pass.logits.argmax(1).eq(batch.labels.narrow(0, first, count)).sum());
    first += count;
  }
  EpochSums& sums = sync_.sums();
  for (const Model::Pass& pass : passes) {
    sums.loss.add_(pass.loss, static_cast<double>(pass.logits.size(0)) / options_.feed.views);
  }
  for (const at::Tensor& count : right) sums.right.add_(count);
  sums.samples += static_cast<std::uint64_t>(rows);
}

StepReport Trainer::step_report(std::uint32_t epoch, const Clock& clock) const {
  return {.state = state_,
          .epoch = epoch,
          .epochs = options_.feed.epochs,
          .samples_done = state_.sums.samples,
          .samples_total = plan_.samples_per_epoch(),
          .rate = rate_,
          .seconds = clock.seconds(),
          .wait_share = clock.wait_share(),
          .ranks = sync_.times(),
          .task = task_};
}

void Trainer::finish_epoch(std::uint32_t epoch, const Clock& clock) {
  const auto samples = static_cast<double>(state_.sums.samples);
  EpochReport report{
      {.epoch = epoch,
       .step = state_.step,
       .rate = rate_,
       .train_loss = state_.sums.loss.item<double>() / samples,
       .train_top1 = static_cast<double>(state_.sums.right.item<std::int64_t>()) / samples,
       .seconds = clock.seconds(),
       .wait_share = clock.wait_share()},
      state_};
  report.features_seconds = std::exchange(features_seconds_, 0);
  report.times = times_;
  report.ranks = sync_.times();
  if (clock.batches != nullptr) {
    report.feed = clock.batches->feed_stats();
    report.faults = clock.batches->faults();
  }
  report.samples_per_second =
      (samples - static_cast<double>(clock.samples_before)) / std::max(1e-9, report.seconds);
  observer_.epoch_trained(state_);
  validate_epoch(report);
  const double score = report.validation.score();
  report.is_best = !state_.best || score > state_.best->score;
  if (report.is_best) state_.best = {.epoch = epoch, .score = score};
  state_.plateau = schedule_.after_epoch(state_.plateau, report.validation.loss);
  state_.clear_sums();
  report.is_last = end().has_value();
  const WeightAverage::InUse averaged(average_after(epoch));
  observer_.epoch_done(report);
}

}  // namespace stoker
