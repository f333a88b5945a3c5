#include "stoker/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/train/device_batches.h"

namespace stoker {
namespace {

std::span<const float> floats_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// Of samples `first` and those after it, whose probabilities have these logarithms.
void tell(const at::Tensor& logs, const at::Tensor& labels_there, std::uint64_t first,
          const OnPredictions& on_predictions) {
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

// One version of every sample, batch by batch.
class View {
 public:
  View(const Model& model, const std::shared_ptr<const Source>& source, const Policy& policy,
       const EvaluateOptions& options, std::size_t number, const Group* group = nullptr)
      : model_(model),
        feed_(source, policy, feed_options(model, options, number, group)),
        batches_(feed_, model.device(), options.normalisation) {}

  // The logarithms of the probabilities, and the labels.
  [[nodiscard]] std::optional<std::pair<at::Tensor, at::Tensor>> next() {
    const auto batch = batches_.next();
    if (!batch) return std::nullopt;
    return std::pair{model_.forward(batch->values).log_softmax(1), batch->labels};
  }

 private:
  static FeedOptions feed_options(const Model& model, const EvaluateOptions& options,
                                  std::size_t number, const Group* group) {
    FeedOptions feed{.workers = options.workers,
                     .batch_size = options.batch_size,
                     .shuffle = false,
                     .seed = number,  // so that views differ where their policies do not
                     .normalisation = options.normalisation,
                     .isolate = options.isolate};
    if (group != nullptr) {
      feed.rank = static_cast<std::uint32_t>(group->rank());
      feed.ranks = static_cast<std::uint32_t>(group->ranks());
      feed.whole_batches = true;
    }
    prepare_feed_for(model.device(), feed);
    return feed;
  }

  const Model& model_;
  Feed feed_;
  DeviceBatches batches_;
};

// In rounds: each rank computes one batch, then all hear of all.
void predict_on_ranks(const Model& model, const std::shared_ptr<const Source>& source,
                      const EvaluateOptions& options, Group& group,
                      const OnPredictions& on_predictions) {
  const at::NoGradGuard no_grad;
  const std::uint64_t samples = source->size(), size = options.batch_size;
  const std::uint64_t batches = (samples + size - 1) / size;
  const auto rank = static_cast<std::uint64_t>(group.rank());
  const auto ranks = static_cast<std::uint64_t>(group.ranks());
  std::optional<View> view;
  if (rank < batches) view.emplace(model, source, options.policy, options, 0, &group);
  const auto rows_of = [&](std::uint64_t batch) {
    return static_cast<std::int64_t>(std::min(size, samples - batch * size));
  };
  const std::int64_t classes = model.input().classes;
  for (std::uint64_t first = 0; first < batches; first += ranks) {
    // The label is one more column: a float holds every number of a class exactly.
    at::Tensor rows = at::zeros({options.batch_size, classes + 1});
    if (first + rank < batches) {
      const auto own = view->next();
      const at::Tensor filled = rows.narrow(0, 0, own->first.size(0));
      filled.narrow(1, 0, classes).copy_(own->first);
      filled.select(1, classes).copy_(own->second);
    }
    const std::vector<at::Tensor> all = group.gather(rows, "predictions of all ranks");
    for (std::uint64_t i = 0; i < ranks && first + i < batches; ++i) {
      const at::Tensor part = all[i].narrow(0, 0, rows_of(first + i));
      tell(part.narrow(1, 0, classes), part.select(1, classes).to(at::kLong), (first + i) * size,
           on_predictions);
    }
  }
}

}  // namespace

void predict(const Model& model, const std::shared_ptr<const Source>& source,
             const EvaluateOptions& options, const OnPredictions& on_predictions) {
  const at::NoGradGuard no_grad;
  std::vector<std::unique_ptr<View>> views;
  views.push_back(std::make_unique<View>(model, source, options.policy, options, 0));
  for (const Policy& policy : options.more_views) {
    views.push_back(std::make_unique<View>(model, source, policy, options, views.size()));
  }
  std::uint64_t first = 0;  // in order, so indices count up
  while (auto logs = views.front()->next()) {
    at::Tensor mean = logs->first;
    if (views.size() > 1) {
      std::vector<at::Tensor> all = {logs->first};
      for (std::size_t i = 1; i < views.size(); ++i) all.push_back(views[i]->next()->first);
      mean = at::stack(all).logsumexp(0) - std::log(static_cast<double>(views.size()));
    }
    tell(mean, logs->second, first, on_predictions);
    first += static_cast<std::uint64_t>(logs->second.size(0));
  }
}

MetricsResult evaluate(const Model& model, const std::shared_ptr<const Source>& source,
                       const EvaluateOptions& options, const OnPredictions& on_predictions,
                       Group* group) {
  Metrics metrics({.classes = model.input().classes, .top_k = options.top_k});
  const auto note = [&](const Predictions& predictions) {
    metrics.add(predictions.probabilities, predictions.labels, predictions.losses);
    if (on_predictions) on_predictions(predictions);
  };
  if (group != nullptr) {
    predict_on_ranks(model, source, options, *group, note);
  } else {
    predict(model, source, options, note);
  }
  return metrics.result();
}

MetricsResult evaluate_features(const Model& model, const FeatureSet& set,
                                const EvaluateOptions& options,
                                const OnPredictions& on_predictions) {
  const at::NoGradGuard no_grad;
  Metrics metrics({.classes = model.input().classes, .top_k = options.top_k});
  const std::int64_t samples = set.labels.size(0), step = options.batch_size;
  for (std::int64_t first = 0; first < samples; first += step) {
    const std::int64_t count = std::min(step, samples - first);
    tell(model.forward_head(set.features.narrow(0, first, count)).log_softmax(1),
         set.labels.narrow(0, first, count), static_cast<std::uint64_t>(first),
         [&](const Predictions& predictions) {
           metrics.add(predictions.probabilities, predictions.labels, predictions.losses);
           if (on_predictions) on_predictions(predictions);
         });
  }
  return metrics.result();
}

}  // namespace stoker
