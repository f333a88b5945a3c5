// A model over a dataset, without training it: probabilities of every sample, in order, and how
// well they fit the labels.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "stoker/augment/policy.h"
#include "stoker/data/sources/source.h"
#include "stoker/distributed/group.h"
#include "stoker/kernels/normalise/normalise.h"
#include "stoker/nn/engine.h"
#include "stoker/nn/model.h"
#include "stoker/nn/target_scale.h"
#include "stoker/pipeline/faults.h"
#include "stoker/train/features.h"
#include "stoker/train/metrics.h"

namespace stoker {

struct EvaluateOptions {
  std::uint32_t batch_size = 256;
  int workers = 0;  // 0: what the job may use
  std::int64_t top_k = 5;
  LossKind loss = LossKind::kCrossEntropy;
  Task task = Task::kClassify;
  TargetScale target_scale = {};  // of kRegress
  // Of kMultilabel, one for each class; empty: those that suit these samples best.
  std::vector<double> thresholds = {};
  Normalisation normalisation = {};
  std::shared_ptr<Engine> engine = {};  // computes the logits; none: the model itself
  Policy policy = {};                   // of the samples as they are: a framing alone
  // Further versions of each sample, made by these; the probabilities are the mean over all, and
  // the loss of a classifier is the cross entropy.
  std::vector<Policy> more_views = {};
  bool isolate = false;  // samples are made in locked-down processes
  // Unless kStop, samples that cannot be made have no predictions and are in no figure.
  OnError on_error = OnError::kStop;
  std::uint64_t max_errors = 100;      // unless kStop: more throw TooManyFaults
  std::function<bool()> give_up = {};  // FeedOptions::give_up
};

// By the options' engine, else by the model itself. `x` is (samples, channels, height, width).
[[nodiscard]] at::Tensor logits_of(const EvaluateOptions& options, const Model& model,
                                   const at::Tensor& x);

// On the CPU; valid during the call.
struct Predictions {
  std::span<const std::uint64_t> indices;  // of the samples in their source, increasing
  std::span<const std::int64_t> labels;    // -1: without a class; empty unless kClassify
  // Samples x classes; of kRegress the predicted numbers, in the targets' own units.
  std::span<const float> probabilities;
  std::span<const float> losses;  // of each sample that has a class or targets
  std::int64_t classes = 0;
  // Like probabilities, what the data says: 0 or 1, or numbers. Empty where it says nothing.
  std::span<const float> targets = {};
  // Samples among these that could not be made, by increasing index.
  std::span<const SampleFault> skipped = {};
};
using OnPredictions = std::function<void(const Predictions&)>;

// Of the network's outputs, (samples, classes): the probabilities, or the predicted numbers in the
// targets' own units, as predict() gives them.
[[nodiscard]] at::Tensor predicted_numbers(const EvaluateOptions& options,
                                           const at::Tensor& logits);

// Samples come in the source's order, images as they are: the result does not depend on workers,
// nor that of a sample on whether others were skipped.
void predict(const Model& model, const std::shared_ptr<const Source>& source,
             const EvaluateOptions& options, const OnPredictions& on_predictions);

// With a group, its ranks share the batches: every sample is computed once, by one of them, in the
// batch that a single rank would have it in, and all ranks hear all predictions in order. So the
// figures are those of a single rank with the same weights, to the last bit.
[[nodiscard]] MetricsResult evaluate(const Model& model,
                                     const std::shared_ptr<const Source>& source,
                                     const EvaluateOptions& options,
                                     const OnPredictions& on_predictions = {},
                                     Group* group = nullptr);

// The same from kept features (features.h), in batches of the same size, so to the same bits.
// `faults`: those of compute_features().
[[nodiscard]] MetricsResult evaluate_features(const Model& model, const FeatureSet& set,
                                              const EvaluateOptions& options,
                                              const OnPredictions& on_predictions = {},
                                              std::span<const SampleFault> faults = {});

}  // namespace stoker
