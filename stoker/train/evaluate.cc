#include "stoker/train/evaluate.h"

#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/train/device_batches.h"

namespace stoker {
namespace {

std::span<const float> floats_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
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
  std::vector<std::uint64_t> indices;
  std::uint64_t first = 0;  // in order, so indices count up
  while (const auto batch = batches.next()) {
    const at::Tensor logs = model.forward(batch->pixels).log_softmax(1);
    const at::Tensor losses =
        logs.gather(1, batch->labels.clamp_min(0).unsqueeze(1)).neg().to(at::kCPU).contiguous();
    const at::Tensor probabilities = logs.exp().to(at::kCPU).contiguous();
    const at::Tensor labels = batch->labels.to(at::kCPU);
    indices.resize(static_cast<std::size_t>(labels.size(0)));
    for (std::uint64_t& index : indices) index = first++;
    on_predictions({.indices = indices,
                    .labels = {labels.const_data_ptr<std::int64_t>(), indices.size()},
                    .probabilities = floats_of(probabilities),
                    .losses = floats_of(losses),
                    .classes = probabilities.size(1)});
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

}  // namespace stoker
