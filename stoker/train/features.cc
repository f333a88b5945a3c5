#include "stoker/train/features.h"

#include <memory>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "stoker/core/error.h"
#include "stoker/nn/inference/inference_network.h"
#include "stoker/train/device_batches.h"

namespace stoker {

std::unique_ptr<Engine> make_fast_body(const Model& model) {
  if (model.precision() != Precision::kFloat32 || !is_worth_inference(model)) return nullptr;
  try {
    return std::make_unique<InferenceNetwork>(model,
                                              EngineOptions{.threads = at::get_num_threads()},
                                              InferenceNetwork::Output::kFeatures);
  } catch (const Error&) {  // has no such form, such as an imported network
    return nullptr;
  }
}

bool only_head_learns(const Model& model) {
  if (model.frozen() == 0 || model.frozen() + 1 != model.stages().size()) return false;
  return model.changing_buffers().empty();  // norms in training mode change features
}

FeatureSet compute_features(const Model& model, Engine* fast_body,
                            const std::shared_ptr<const Source>& source, const Policy& policy,
                            FeedOptions options, std::uint32_t epoch,
                            const std::function<void(std::uint64_t)>& on_samples,
                            std::vector<SampleFault>* faults) {
  options.shuffle = false;
  options.rank = 0;  // every rank needs the features of all samples
  options.ranks = 1;
  options.begin = {.epoch = epoch, .position = 0};
  options.epochs = epoch + 1;
  options.batches_per_epoch = 0;
  options.views = 1;
  options.drop_last = false;
  prepare_feed_for(model.device(), *source, options);
  Feed feed(source, policy, options);
  DeviceBatches batches(feed, model.device(), options.normalisation);
  std::vector<at::Tensor> features, labels, weights;
  while (const auto batch = batches.next()) {
    features.push_back(fast_body != nullptr ? fast_body->forward(batch->values)
                                            : model.features(batch->values));
    labels.push_back(batch->labels.clone());
    if (batch->weights.defined()) weights.push_back(batch->weights.clone());
    if (on_samples) on_samples(static_cast<std::uint64_t>(batch->labels.size(0)));
  }
  if (faults != nullptr) {
    faults->insert(faults->end(), feed.faults().begin(), feed.faults().end());
  }
  return {.features = at::cat(features),
          .labels = at::cat(labels),
          .weights = weights.empty() ? at::Tensor() : at::cat(weights)};
}

FeatureBatches::FeatureBatches(std::vector<FeatureSet> views, std::vector<SampleFault> faults,
                               BatchPlan plan, const EpochOrder& order)
    : views_(std::move(views)),
      faults_(std::move(faults)),
      plan_(plan),
      order_(order.reader()),
      next_(plan_.first_batch()) {}

std::optional<DeviceBatch> FeatureBatches::next() {
  if (next_ >= plan_.end_batch()) return std::nullopt;
  const BatchPlan::Share share = plan_.share(next_);
  std::vector<std::int64_t> places(share.count);
  for (std::uint32_t i = 0; i < share.count; ++i) {
    places[i] = static_cast<std::int64_t>(
        order_.sample_at(share.epoch, share.first_position + std::uint64_t{i} * plan_.step()));
  }
  std::vector<std::uint64_t> indices(places.begin(), places.end());
  const FeatureSet& view = views_[share.epoch % views_.size()];
  const at::Tensor chosen = at::tensor(places, at::kLong).to(view.features.device());
  return DeviceBatch{
      .values = view.features.index_select(0, chosen),
      .labels = view.labels.index_select(0, chosen),
      .weights = view.weights.defined() ? view.weights.index_select(0, chosen) : at::Tensor(),
      .number = next_++,
      .indices = std::move(indices)};
}

}  // namespace stoker
