// The validation after an epoch: the rest of trainer.h is in trainer.cc.
#include <chrono>
#include <exception>

#include "stoker/data/sources/source_task.h"
#include "stoker/pipeline/feed.h"
#include "stoker/train/statistics_pass.h"
#include "stoker/train/trainer.h"

namespace stoker {

EvaluateOptions validation_options(const TrainData& data, const TrainOptions& options) {
  return {.batch_size = options.validation_batch_size,
          .workers = options.feed.workers,
          .top_k = options.top_k,
          .loss = options.loss,
          .task = task_of(*data.validation),
          .target_scale = data.target_scale,
          .normalisation = data.normalisation,
          .policy = data.validation_policy,
          .isolate = options.feed.isolate,
          .on_error = options.feed.on_error,
          .max_errors = options.feed.max_errors,
          .give_up = options.feed.give_up};
}

MetricsResult Trainer::validate() {
  const EvaluateOptions options = validation_options(data_, options_);
  const Model& model = *state_.model;
  validation_faults_.clear();
  const auto tell = [this](const Predictions& predictions) {
    validation_faults_.insert(validation_faults_.end(), predictions.skipped.begin(),
                              predictions.skipped.end());
    observer_.predicted(predictions);
  };
  if (!options_.cached_validation || !only_head_learns(model)) {
    validation_features_.reset();
    return evaluate(model, data_.validation, options, tell, sync_.group());
  }
  if (!validation_features_) {
    feature_faults_.clear();
    validation_features_ =
        compute_features(model, frozen_body_.get(), data_.validation, options.policy,
                         {.workers = options.workers,
                          .batch_size = options.batch_size,
                          .normalisation = options.normalisation,
                          .isolate = options.isolate,
                          .on_error = options.on_error,
                          .max_errors = options.max_errors,
                          .give_up = options.give_up},
                         0, {}, &feature_faults_);
  }
  return evaluate_features(model, *validation_features_, options, tell, feature_faults_);
}

const WeightAverage* Trainer::average_after(std::uint32_t epoch) const {
  return state_.average && state_.average->exists_after(epoch) ? &*state_.average : nullptr;
}

void Trainer::validate_epoch(EpochReport& report) {
  const auto start = std::chrono::steady_clock::now();
  try {
    const WeightAverage* average = average_after(report.epoch);
    if (average != nullptr && average->needs_statistics()) {
      state_.average->renew_statistics(
          [&] { recompute_statistics(*state_.model, data_, options_, report.epoch, sync_); });
    }
    const WeightAverage::InUse averaged(average);
    report.validation = validate();
  } catch (const FeedGivenUp&) {
    throw;  // it did not fail: whoever resumes the run validates anew
  } catch (...) {
    const std::exception_ptr reason = std::current_exception();
    try {
      observer_.validation_failed(state_);
    } catch (const std::exception&) {
      // What ended the validation is what the user must hear.
    }
    std::rethrow_exception(reason);
  }
  report.validation_faults = validation_faults_;
  report.validation_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace stoker
