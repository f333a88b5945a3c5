#include "stoker/train/weight_average.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

std::vector<NamedTensor> changing_tensors(const Model& model) {
  std::vector<NamedTensor> all;
  for (const ModelStage& stage : model.trainable_stages()) {
    all.insert(all.end(), stage.parameters.begin(), stage.parameters.end());
  }
  const std::vector<NamedTensor> buffers = model.changing_buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  return all;
}

}  // namespace

WeightAverage::WeightAverage(const Model& model, const AverageOptions& options)
    : options_(options) {
  if (!(options.decay > 0 && options.decay < 1)) {
    throw OptionError(
        {.what = fmt::format("`model_ema_decay` must be more than 0 and below 1 (got {})",
                             options.decay)});
  }
  for (const NamedTensor& named : changing_tensors(model)) {
    model_.push_back(named.tensor);
    average_.push_back({named.name, named.tensor.detach().clone()});
  }
}

void WeightAverage::update(std::uint64_t step) {
  const at::NoGradGuard no_grad;
  const auto t = static_cast<double>(step);
  const double decay =
      options_.warmup ? std::min(options_.decay, (1 + t) / (10 + t)) : options_.decay;
  for (std::size_t i = 0; i < average_.size(); ++i) {
    at::Tensor& average = average_[i].tensor;
    if (average.is_floating_point()) {
      average.lerp_(model_[i], 1 - decay);
    } else {
      average.copy_(model_[i]);  // counts
    }
  }
}

std::vector<NamedTensor> WeightAverage::tensors() const { return average_; }

WeightAverage::InUse::InUse(const WeightAverage* average) : average_(average) {
  if (average == nullptr) return;
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < average->model_.size(); ++i) {
    own_.push_back(average->model_[i].detach().clone());
    average->model_[i].copy_(average->average_[i].tensor);
  }
}

WeightAverage::InUse::~InUse() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < own_.size(); ++i) average_->model_[i].copy_(own_[i]);
}

}  // namespace stoker
