// What the head of a frozen network sees, computed once and kept.
//
// Where everything but the head is frozen, norms included, a sample's features depend on its
// image alone: those of validation never change, and those of an augmented training image need
// to be computed once for each of its versions. Training on them gives what training on the
// images gives; where make_fast_body() computes them, but for rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "stoker/data/order/sampler.h"
#include "stoker/nn/engine.h"
#include "stoker/nn/model.h"
#include "stoker/pipeline/feed.h"
#include "stoker/train/batch_stream.h"
#include "stoker/train/metrics.h"

namespace stoker {

// Of every sample, in the source's order, on the model's device.
struct FeatureSet {
  at::Tensor features;      // (samples, features)
  at::Tensor labels;        // and
  at::Tensor weights = {};  // as in a DeviceBatch
};

// Only the head of the model changes in training, so features may be kept: the stages before it
// are frozen, and so are the running statistics of their norms.
[[nodiscard]] bool only_head_learns(const Model& model);

// Computes Model::features() in the form for use alone (nn/inference): the same but for rounding,
// and faster. Null where the model itself is as fast: small networks, GPUs, other precisions.
[[nodiscard]] std::unique_ptr<Engine> make_fast_body(const Model& model);

// As epoch `epoch` of a feed with these options would show the samples. `fast_body`: of the model,
// or null. `on_samples` hears how many more are done. Replaced samples are added to `faults`.
[[nodiscard]] FeatureSet compute_features(const Model& model, Engine* fast_body,
                                          const std::shared_ptr<const Source>& source,
                                          const Policy& policy, FeedOptions options,
                                          std::uint32_t epoch,
                                          const std::function<void(std::uint64_t)>& on_samples = {},
                                          std::vector<SampleFault>* faults = nullptr);

// The batches of a plan, from kept features: epoch e sees views[e % views.size()].
class FeatureBatches final : public BatchStream {
 public:
  FeatureBatches(std::vector<FeatureSet> views, std::vector<SampleFault> faults, BatchPlan plan,
                 const EpochOrder& order);
  [[nodiscard]] std::optional<DeviceBatch> next() override;
  [[nodiscard]] double waited_seconds() const noexcept override { return 0; }
  [[nodiscard]] std::span<const SampleFault> faults() const noexcept override { return faults_; }

 private:
  std::vector<FeatureSet> views_;
  std::vector<SampleFault> faults_;
  BatchPlan plan_;
  EpochOrder::Reader order_;
  std::uint64_t next_;
};

}  // namespace stoker
