#include "stoker/train/evaluate.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/train/device_batches.h"

namespace stoker {
namespace {

std::span<const float> floats_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// Of samples `first` and those after it.
void tell(const at::Tensor& logits, const at::Tensor& labels_there, std::uint64_t first,
          const OnPredictions& on_predictions) {
  const at::Tensor logs = logits.log_softmax(1);
  const at::Tensor losses =
      logs.gather(1, labels_there.clamp_min(0).unsqueeze(1)).neg().to(at::kCPU).contiguous();
  const at::Tensor probabilities = logs.exp().to(at::kCPU).contiguous();
  const at::Tensor labels = labels_there.to(at::kCPU).contiguous();
  std::vector<std::uint64_t> indices(static_cast<std::size_t>(labels.size(0)));
  std::iota(indices.begin(), indices.end(), first);
  on_predictions({.indices = indices,
                  .labels = {labels.const_data_ptr<std::int64_t>(), indices.size()},
                  .probabilities = floats_of(probabilities),
                  .losses = floats_of(losses),
                  .classes = probabilities.size(1)});
}

}  // namespace

void predict(const Model& model, const std::shared_ptr<const Source>& source,
             const EvaluateOptions& options, const OnPredictions& on_predictions) {
  const at::NoGradGuard no_grad;
  FeedOptions feed_options{.workers = options.workers,
                           .batch_size = options.batch_size,
                           .shuffle = false,
                           .normalisation = options.normalisation,
                           .isolate = options.isolate};
  prepare_feed_for(model.device(), feed_options);
  Feed feed(source, options.policy, feed_options);
  DeviceBatches batches(feed, model.device(), options.normalisation);
  std::uint64_t first = 0;  // in order, so indices count up
  while (const auto batch = batches.next()) {
    tell(model.forward(batch->values), batch->labels, first, on_predictions);
    first += static_cast<std::uint64_t>(batch->labels.size(0));
  }
}

MetricsResult evaluate(const Model& model, const std::shared_ptr<const Source>& source,
                       const EvaluateOptions& options, const OnPredictions& on_predictions) {
  Metrics metrics({.classes = model.input().classes, .top_k = options.top_k});
  predict(model, source, options, [&](const Predictions& predictions) {
    metrics.add(predictions.probabilities, predictions.labels, predictions.losses);
    if (on_predictions) on_predictions(predictions);
  });
  return metrics.result();
}

MetricsResult evaluate_features(const Model& model, const FeatureSet& set,
                                const EvaluateOptions& options) {
  const at::NoGradGuard no_grad;
  Metrics metrics({.classes = model.input().classes, .top_k = options.top_k});
  const std::int64_t samples = set.labels.size(0), step = options.batch_size;
  for (std::int64_t first = 0; first < samples; first += step) {
    const std::int64_t count = std::min(step, samples - first);
    tell(model.forward_head(set.features.narrow(0, first, count)),
         set.labels.narrow(0, first, count), static_cast<std::uint64_t>(first),
         [&](const Predictions& predictions) {
           metrics.add(predictions.probabilities, predictions.labels, predictions.losses);
         });
  }
  return metrics.result();
}

}  // namespace stoker
