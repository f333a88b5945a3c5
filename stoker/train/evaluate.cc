#include "stoker/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/data/sources/source_task.h"
#include "stoker/nn/loss.h"
#include "stoker/nn/target_loss.h"
#include "stoker/train/device_batches.h"
#include "stoker/train/multilabel_metrics.h"
#include "stoker/train/regression_metrics.h"

namespace stoker {
namespace {

std::span<const float> floats_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

// Of the samples [first, first + rows) of a source: what the network says of them, and a loss for
// each.
struct PredictedRows {
  // Of a classifier the logarithms of its probabilities; else a probability for each class, or
  // numbers in the targets' units.
  at::Tensor outputs;
  at::Tensor losses;
  at::Tensor labels;  // classes or targets, as DeviceBatch has them
  std::uint64_t first = 0;
  std::vector<SampleFault> skipped = {};  // of these: their rows mean nothing
};

// Data for prediction alone has no targets, and then there is no loss.
at::Tensor losses_against_targets(const EvaluateOptions& options, const at::Tensor& logits,
                                  const at::Tensor& labels) {
  if (!labels.is_floating_point()) return at::zeros({logits.size(0)}, logits.options());
  const bool scaled = options.task == Task::kRegress;
  return target_losses(logits, scaled ? standardised(labels, options.target_scale) : labels,
                       {.kind = options.loss});
}

PredictedRows predicted_rows(const EvaluateOptions& options, const Model& model,
                             const at::Tensor& logits, const at::Tensor& labels) {
  if (options.task == Task::kClassify) {
    const at::Tensor logs = logits.log_softmax(1);
    return {.outputs = logs,
            .losses = losses_of_samples(options.loss, model, logits, logs, labels),
            .labels = labels};
  }
  return {.outputs = predicted_numbers(options, logits),
          .losses = losses_against_targets(options, logits, labels),
          .labels = labels};
}

// Rows that are those of their samples.
std::vector<std::int64_t> own_rows(const PredictedRows& predicted) {
  std::vector<bool> own(static_cast<std::size_t>(predicted.labels.size(0)), true);
  for (const SampleFault& fault : predicted.skipped) own[fault.index - predicted.first] = false;
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i]) rows.push_back(static_cast<std::int64_t>(i));
  }
  return rows;
}

void tell(const PredictedRows& predicted, Task task, const OnPredictions& on_predictions) {
  const std::vector<std::int64_t> rows = own_rows(predicted);
  const auto chosen = [&](const at::Tensor& all) {
    if (predicted.skipped.empty()) return all;
    return all.index_select(0, at::tensor(rows, at::kLong).to(all.device()));
  };
  const at::Tensor losses = chosen(predicted.losses).to(at::kCPU).contiguous();
  at::Tensor outputs = chosen(predicted.outputs);
  if (task == Task::kClassify) outputs = outputs.exp();
  const at::Tensor probabilities = outputs.to(at::kCPU).contiguous();
  const at::Tensor labels = chosen(predicted.labels).to(at::kCPU).contiguous();
  std::vector<std::uint64_t> indices;
  for (const std::int64_t row : rows) {
    indices.push_back(predicted.first + static_cast<std::uint64_t>(row));
  }
  Predictions told{.indices = indices,
                   .labels = {},
                   .probabilities = floats_of(probabilities),
                   .losses = floats_of(losses),
                   .classes = probabilities.size(1),
                   .targets = {},
                   .skipped = predicted.skipped};
  if (labels.is_floating_point()) {
    told.targets = floats_of(labels);
  } else if (task == Task::kClassify) {
    told.labels = {labels.const_data_ptr<std::int64_t>(), indices.size()};
  }
  on_predictions(told);
}

// Of those whose own places are [first, end): a sample that could not be made is also noted where
// it was to replace another.
std::vector<SampleFault> faults_between(std::span<const SampleFault> faults, std::uint64_t first,
                                        std::uint64_t end) {
  std::vector<SampleFault> own;
  for (const SampleFault& fault : faults) {
    const bool is_own = fault.index == fault.place.position;
    if (is_own && fault.index >= first && fault.index < end) own.push_back(fault);
  }
  return own;
}

// One version of every sample, batch by batch.
class View {
 public:
  View(const Model& model, const std::shared_ptr<const Source>& source, const Policy& policy,
       const EvaluateOptions& options, std::size_t number, const Group* group = nullptr)
      : model_(model),
        options_(options),
        batch_size_(options.batch_size),
        rank_(group == nullptr ? 0 : static_cast<std::uint64_t>(group->rank())),
        ranks_(group == nullptr ? 1 : static_cast<std::uint64_t>(group->ranks())),
        feed_(source, policy, feed_options(model, *source, options, number, group)),
        batches_(feed_, model.device(), options.normalisation) {}

  [[nodiscard]] std::optional<PredictedRows> next() {
    const auto batch = batches_.next();
    if (!batch) return std::nullopt;
    const std::uint64_t first = (batch->number * ranks_ + rank_) * batch_size_;
    const auto end = first + static_cast<std::uint64_t>(batch->labels.size(0));
    PredictedRows rows =
        predicted_rows(options_, model_, logits_of(options_, model_, batch->values), batch->labels);
    rows.first = first;
    rows.skipped = faults_between(feed_.faults(), first, end);
    return rows;
  }

 private:
  static FeedOptions feed_options(const Model& model, const Source& source,
                                  const EvaluateOptions& options, std::size_t number,
                                  const Group* group) {
    FeedOptions feed{
        .workers = options.workers,
        .batch_size = options.batch_size,
        .shuffle = false,
        .seed = number,  // so that views differ where their policies do not
        .normalisation = options.normalisation,
        .isolate = options.isolate,
        // Another sample in its place would be computed in vain.
        .on_error = options.on_error == OnError::kStop ? OnError::kStop : OnError::kOmit,
        .max_errors = options.max_errors,
        .give_up = options.give_up};
    if (group != nullptr) {
      feed.rank = static_cast<std::uint32_t>(group->rank());
      feed.ranks = static_cast<std::uint32_t>(group->ranks());
      feed.whole_batches = true;
      feed.max_errors = std::numeric_limits<std::uint64_t>::max();  // counted over all ranks
    }
    prepare_feed_for(model.device(), source, feed);
    feed.channels_last = options.engine != nullptr && options.engine->wants_channels_last() &&
                         feed.pixel_type == PixelType::kF32;
    return feed;
  }

  const Model& model_;
  const EvaluateOptions& options_;
  std::uint64_t batch_size_, rank_, ranks_;
  Feed feed_;
  DeviceBatches batches_;
};

// Rows as they travel: the outputs, then the label or as many targets, then whether the sample was
// skipped, and its loss. A float holds every number of a class exactly.
struct TravelColumns {
  std::int64_t outputs = 0, labels = 0;
  [[nodiscard]] std::int64_t skipped() const { return outputs + labels; }
  [[nodiscard]] std::int64_t all() const { return outputs + labels + 2; }
};
TravelColumns travel_columns(const Model& model, const Source& source) {
  const std::int64_t outputs = model.input().classes;
  return {.outputs = outputs, .labels = task_of(source) == Task::kClassify ? 1 : outputs};
}

at::Tensor packed(const PredictedRows& own, std::int64_t rows, const TravelColumns& columns) {
  at::Tensor all = at::zeros({rows, columns.all()});
  const at::Tensor filled = all.narrow(0, 0, own.outputs.size(0));
  filled.narrow(1, 0, columns.outputs).copy_(own.outputs);
  filled.narrow(1, columns.outputs, columns.labels)
      .copy_(own.labels.reshape({own.labels.size(0), columns.labels}));
  filled.select(1, columns.skipped() + 1).copy_(own.losses);
  for (const SampleFault& fault : own.skipped) {
    filled[static_cast<std::int64_t>(fault.index - own.first)][columns.skipped()] = 1;
  }
  return all;
}

// The opposite, for rank `rank`'s rows. Reasons do not travel: they are in that rank's log.
PredictedRows unpacked(const at::Tensor& all, const TravelColumns& columns, std::uint64_t first,
                       std::uint64_t rank, const Source& source) {
  at::Tensor labels = all.narrow(1, columns.outputs, columns.labels);
  if (task_of(source) == Task::kClassify) labels = labels.squeeze(1).to(at::kLong);
  PredictedRows rows{.outputs = all.narrow(1, 0, columns.outputs),
                     .losses = all.select(1, columns.skipped() + 1),
                     .labels = labels,
                     .first = first};
  const at::Tensor skipped = all.select(1, columns.skipped()).contiguous();
  const auto* flags = skipped.const_data_ptr<float>();
  for (std::int64_t i = 0; i < skipped.size(0); ++i) {
    if (flags[i] == 0) continue;
    const std::uint64_t index = first + static_cast<std::uint64_t>(i);
    rows.skipped.push_back({.index = index,
                            .name = source.sample_name(index),
                            .reason = fmt::format("cannot be read on rank {}", rank),
                            .place = {.epoch = 0, .position = index}});
  }
  return rows;
}

// The mean of the predictions, over all versions of the samples.
void average_views(PredictedRows& rows, const std::vector<at::Tensor>& all, const Model& model,
                   const EvaluateOptions& options) {
  if (options.task == Task::kClassify) {
    rows.outputs = at::stack(all).logsumexp(0) - std::log(static_cast<double>(all.size()));
    rows.losses =
        losses_of_samples(LossKind::kCrossEntropy, model, rows.outputs, rows.outputs, rows.labels);
    return;
  }
  rows.outputs = at::stack(all).mean(0);
  const at::Tensor logits = options.task == Task::kMultilabel
                                ? rows.outputs.logit(1e-7)
                                : standardised(rows.outputs, options.target_scale);
  rows.losses = losses_against_targets(options, logits, rows.labels);
}

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
  const TravelColumns columns = travel_columns(model, *source);
  std::vector<SampleFault> skipped;
  for (std::uint64_t first = 0; first < batches; first += ranks) {
    at::Tensor rows = at::zeros({options.batch_size, columns.all()});
    std::optional<PredictedRows> own;
    if (first + rank < batches) {
      own = view->next();
      rows = packed(*own, options.batch_size, columns);
    }
    const std::vector<at::Tensor> all = group.gather(rows, "predictions of all ranks");
    for (std::uint64_t i = 0; i < ranks && first + i < batches; ++i) {
      const at::Tensor part = all[i].narrow(0, 0, rows_of(first + i));
      PredictedRows heard = unpacked(part, columns, (first + i) * size, i, *source);
      if (i == rank) heard.skipped = own->skipped;  // with the reasons
      skipped.insert(skipped.end(), heard.skipped.begin(), heard.skipped.end());
      if (skipped.size() > options.max_errors) throw TooManyFaults(skipped, options.max_errors);
      tell(heard, options.task, on_predictions);
    }
  }
}

}  // namespace

at::Tensor logits_of(const EvaluateOptions& options, const Model& model, const at::Tensor& x) {
  return options.engine ? options.engine->forward(x) : model.forward(x);
}

at::Tensor predicted_numbers(const EvaluateOptions& options, const at::Tensor& logits) {
  if (options.task == Task::kClassify) return logits.log_softmax(1).exp();
  const at::Tensor outputs = predictions_of(options.task, logits);
  return options.task == Task::kRegress ? in_own_unit(outputs, options.target_scale) : outputs;
}

void predict(const Model& model, const std::shared_ptr<const Source>& source,
             const EvaluateOptions& options, const OnPredictions& on_predictions) {
  const at::NoGradGuard no_grad;
  std::vector<std::unique_ptr<View>> views;
  views.push_back(std::make_unique<View>(model, source, options.policy, options, 0));
  for (const Policy& policy : options.more_views) {
    views.push_back(std::make_unique<View>(model, source, policy, options, views.size()));
  }
  while (auto rows = views.front()->next()) {
    if (views.size() > 1) {
      std::vector<at::Tensor> all = {rows->outputs};
      for (std::size_t i = 1; i < views.size(); ++i) all.push_back(views[i]->next()->outputs);
      average_views(*rows, all, model, options);
    }
    tell(*rows, options.task, on_predictions);
  }
}

namespace {

// Figures of what it is told, which it passes on.
class Gathered {
 public:
  Gathered(const Model& model, const EvaluateOptions& options, const OnPredictions& on_predictions)
      : options_(options), metrics_(metrics_for(model, options)), on_predictions_(on_predictions) {}

  void operator()(const Predictions& predictions) {
    std::visit([&](auto& metrics) { add(metrics, predictions); }, metrics_);
    skipped_ += static_cast<std::int64_t>(predictions.skipped.size());
    if (on_predictions_) on_predictions_(predictions);
  }
  [[nodiscard]] MetricsResult result() const {
    MetricsResult result = std::visit([&](const auto& metrics) { return of(metrics); }, metrics_);
    result.skipped = skipped_;
    return result;
  }

 private:
  using AnyMetrics = std::variant<Metrics, MultilabelMetrics, RegressionMetrics>;

  static AnyMetrics metrics_for(const Model& model, const EvaluateOptions& options) {
    const std::int64_t outputs = model.input().classes;
    if (options.task == Task::kMultilabel) return MultilabelMetrics(outputs);
    if (options.task == Task::kRegress) return RegressionMetrics(outputs);
    return Metrics({.classes = outputs, .top_k = options.top_k});
  }

  static void add(Metrics& metrics, const Predictions& told) {
    metrics.add(told.probabilities, told.labels, told.losses);
  }
  static void add(MultilabelMetrics& metrics, const Predictions& told) {
    metrics.add(told.probabilities, told.targets, told.losses);
  }
  static void add(RegressionMetrics& metrics, const Predictions& told) {
    metrics.add(told.indices, told.probabilities, told.targets, told.losses);
  }

  [[nodiscard]] MetricsResult of(const Metrics& metrics) const { return metrics.result(); }
  [[nodiscard]] MetricsResult of(const MultilabelMetrics& metrics) const {
    return metrics.result(options_.thresholds.empty() ? metrics.choose_thresholds()
                                                      : options_.thresholds);
  }
  [[nodiscard]] MetricsResult of(const RegressionMetrics& metrics) const {
    return metrics.result();
  }

  const EvaluateOptions& options_;
  AnyMetrics metrics_;
  const OnPredictions& on_predictions_;
  std::int64_t skipped_ = 0;
};

}  // namespace

MetricsResult evaluate(const Model& model, const std::shared_ptr<const Source>& source,
                       const EvaluateOptions& options, const OnPredictions& on_predictions,
                       Group* group) {
  Gathered gathered(model, options, on_predictions);
  const auto note = [&](const Predictions& predictions) { gathered(predictions); };
  if (group != nullptr) {
    predict_on_ranks(model, source, options, *group, note);
  } else {
    predict(model, source, options, note);
  }
  return gathered.result();
}

MetricsResult evaluate_features(const Model& model, const FeatureSet& set,
                                const EvaluateOptions& options, const OnPredictions& on_predictions,
                                std::span<const SampleFault> faults) {
  const at::NoGradGuard no_grad;
  Gathered gathered(model, options, on_predictions);
  const std::int64_t samples = set.labels.size(0), step = options.batch_size;
  for (std::int64_t first = 0; first < samples; first += step) {
    const std::int64_t count = std::min(step, samples - first);
    const auto begin = static_cast<std::uint64_t>(first);
    PredictedRows rows =
        predicted_rows(options, model, model.forward_head(set.features.narrow(0, first, count)),
                       set.labels.narrow(0, first, count));
    rows.first = begin;
    rows.skipped = faults_between(faults, begin, begin + static_cast<std::uint64_t>(count));
    tell(rows, options.task, [&](const Predictions& predictions) { gathered(predictions); });
  }
  return gathered.result();
}

}  // namespace stoker
