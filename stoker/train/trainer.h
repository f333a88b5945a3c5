// The training loop: a train and a val phase for each epoch, from wherever the state stands.
//
//   State state(make_model(…), options.optimiser);
//   Trainer(state, data, options, observer).run();
//
// What it computes depends on the state, the data and the options alone; the number of workers
// changes nothing but the time. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stoker/augment/policy.h"
#include "stoker/data/sources/source.h"
#include "stoker/kernels/normalise/normalise.h"
#include "stoker/nn/target_scale.h"
#include "stoker/train/batch_stream.h"
#include "stoker/train/evaluate.h"
#include "stoker/train/features.h"
#include "stoker/train/observer.h"
#include "stoker/train/options.h"
#include "stoker/train/schedule.h"
#include "stoker/train/state.h"
#include "stoker/train/step_sync.h"

namespace stoker {

struct TrainData {
  std::shared_ptr<const Source> train, validation;
  Policy policy = {};             // of the training samples
  Policy validation_policy = {};  // of the others
  Normalisation normalisation = {};
  TargetScale target_scale = {};  // of a regression
  // Sees what the network sees, as in use, and takes part in the loss (nn/loss.h). Null: none.
  std::shared_ptr<const Model> teacher = {};
};

// How the trainer evaluates after each epoch; a test at the end of a run is made likewise.
[[nodiscard]] EvaluateOptions validation_options(const TrainData& data,
                                                 const TrainOptions& options);

enum class RunEnd { kAllEpochs, kNoProgress, kStopped, kDiverged };

class Trainer {
 public:
  // `stop` is asked after each step, and while a sample is waited for that takes long: a read that
  // never returns is left behind (FeedOptions::give_up). Throws Error where options make no sense.
  Trainer(State& state, const TrainData& data, const TrainOptions& options, Observer& observer,
          std::function<bool()> stop = {});
  // As above, with the caller's sync. A RankSync makes this process one of several ranks that train
  // together; all of them stop when one is asked to.
  Trainer(State& state, const TrainData& data, const TrainOptions& options, Observer& observer,
          std::function<bool()> stop, StepSync& sync);

  RunEnd run();

 private:
  Trainer(State& state, const TrainData& data, const TrainOptions& options, Observer& observer,
          std::function<bool()> stop, std::unique_ptr<StepSync> sync);

  // Batches [begin, end) whose gradients make one step; samples of all ranks.
  struct BatchGroup {
    std::uint64_t begin = 0, end = 0, samples = 0;
  };
  // A batch's place in its group.
  struct GroupPlace {
    bool first = true, last = true;
  };
  struct Clock;

  [[nodiscard]] std::optional<RunEnd> end() const;
  [[nodiscard]] BatchGroup next_group() const;
  // All views of the training images, computed now.
  [[nodiscard]] FeatureBatches kept_features(const FeedOptions& options);
  RunEnd run_to_the_end();
  RunEnd run_on(BatchStream& batches);
  // The step's loss becomes known to the state's watch; true where the run has to end.
  [[nodiscard]] bool has_diverged(const BatchGroup& group);
  // The validation of a run that was broken off before it; where it ends with that, how.
  [[nodiscard]] std::optional<RunEnd> make_up_for_validation();
  void make_step(BatchStream& batches, const BatchGroup& group);
  // What the batches of a step brought becomes part of the state; the gradients become a step.
  void settle_step(const BatchGroup& group);
  [[nodiscard]] std::uint64_t marks_of(const DeviceBatch& batch) const;
  // Gradients become a step, unless one of them is not finite (in float16 alone).
  void apply_gradients();
  // Seconds since it was called last.
  double lap();
  [[nodiscard]] DeviceBatch take_batch(BatchStream& batches, std::uint64_t number);
  [[nodiscard]] DrawKey draw_key(std::uint64_t batch) const;
  [[nodiscard]] Mix mix_of(const DeviceBatch& batch) const;
  // The batch whole, or in parts where the device has no memory for it.
  void train_on(DeviceBatch& batch, double weight, const GroupPlace& place);
  // A batch of several views of each sample: one view after the other.
  void train_on_views(const DeviceBatch& batch, double weight, const GroupPlace& place);
  void train_on_parts(const DeviceBatch& batch, const LossOptions& loss, bool last_of_group);
  // One pass of the model, or of its head alone where the rest cannot change.
  [[nodiscard]] Model::Pass backward(const at::Tensor& values, const at::Tensor& labels,
                                     LossOptions& loss, bool last_of_step);
  void freeze_for(std::uint32_t epoch);
  void prepare_frozen_body();
  void finish_epoch(std::uint32_t epoch, const Clock& clock);
  // The validation's part of the report.
  void validate_epoch(EpochReport& report);
  [[nodiscard]] MetricsResult validate();
  // Whose weights are validated and saved at the end of this epoch; null: the model's own.
  [[nodiscard]] const WeightAverage* average_after(std::uint32_t epoch) const;
  [[nodiscard]] StepReport step_report(std::uint32_t epoch, const Clock& clock) const;

  State& state_;
  TrainData data_;
  TrainOptions options_;
  Observer& observer_;
  std::function<bool()> stop_;
  std::unique_ptr<StepSync> own_sync_;  // unless the caller has one
  StepSync& sync_;
  BatchPlan plan_;
  Schedule schedule_;
  Task task_;
  std::size_t frozen_at_first_;
  at::Tensor class_weights_;                   // on the model's device, if any
  double rate_ = 0;                            // of the step made last
  std::uint32_t view_ = 0;                     // of the batch under way
  StepTimes times_;                            // of the epoch under way
  std::uint64_t marks_ = 0;                    // of the step under way, this rank's part
  std::chrono::steady_clock::time_point lap_;  // up to which they are counted
  double features_seconds_ = 0;                // making kept ones, not reported yet
  bool told_divergence_ = false;
  bool is_settled_ = true;                         // the state is that after a whole step
  std::vector<SampleFault> validation_faults_;     // of the last validation
  std::optional<FeatureSet> validation_features_;  // where they cannot change
  std::unique_ptr<Engine> frozen_body_;            // where it cannot change and is worth it
  std::vector<SampleFault> feature_faults_;        // of these
};

}  // namespace stoker
