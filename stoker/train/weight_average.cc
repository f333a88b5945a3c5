#include "stoker/train/weight_average.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

std::vector<NamedTensor> changing_tensors(const Model& model) {
  std::vector<NamedTensor> all = model.trainable_parameters();
  const std::vector<NamedTensor> buffers = model.changing_buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  return all;
}

}  // namespace

WeightAverage::WeightAverage(const Model& model, const AverageOptions& options)
    : options_(options) {
  if (options.equal_from > 0 && options.decay != 0) {
    throw OptionError({.what = "there can be only one average of the weights",
                       .expected = "`model_ema` or `swa_start`",
                       .found = "both"});
  }
  if (options.equal_from == 0 && !(options.decay > 0 && options.decay < 1)) {
    throw OptionError(
        {.what = fmt::format("`model_ema_decay` must be more than 0 and below 1 (got {})",
                             options.decay)});
  }
  for (const NamedTensor& named : changing_tensors(model)) {
    model_.push_back(named.tensor);
    average_.push_back({named.name, named.tensor.detach().clone()});
  }
  weights_ = model.trainable_parameters().size();
}

bool WeightAverage::exists_after(std::uint32_t epoch) const noexcept {
  return epoch >= options_.equal_from;
}

void WeightAverage::update(std::uint64_t step) {
  if (options_.equal_from > 0) return;
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

void WeightAverage::end_epoch(std::uint32_t epoch) {
  if (options_.equal_from == 0 || !exists_after(epoch)) return;
  const at::NoGradGuard no_grad;
  // Of epoch number n of the average, counted from 1, the average keeps 1 - 1/n.
  const double share = 1 / (static_cast<double>(epoch - options_.equal_from) + 1);
  for (std::size_t i = 0; i < average_.size(); ++i) {
    at::Tensor& average = average_[i].tensor;
    if (i < weights_) {
      average.lerp_(model_[i], share);
    } else {
      average.copy_(model_[i]);
    }
  }
}

void WeightAverage::renew_statistics(const std::function<void()>& compute) {
  const InUse in_use(this);
  compute();
  const at::NoGradGuard no_grad;
  for (std::size_t i = weights_; i < average_.size(); ++i) average_[i].tensor.copy_(model_[i]);
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
