#include "stoker/train/optimiser.h"

#include <array>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker {
namespace {

const std::array<std::string, 5> kNames = {"sgd", "momentum", "adam", "adamw", "lion"};

void require(bool condition, const char* name, const char* expected, double found) {
  if (condition) return;
  throw OptionError({.what = fmt::format("`{}` must be {} (got {})", name, expected, found)});
}

void check(const OptimiserOptions& o) {
  require(o.momentum >= 0 && o.momentum < 1, "momentum", "0 or more, below 1", o.momentum);
  require(o.beta1 >= 0 && o.beta1 < 1, "beta1", "0 or more, below 1", o.beta1);
  require(o.beta2 >= 0 && o.beta2 < 1, "beta2", "0 or more, below 1", o.beta2);
  require(o.epsilon > 0, "opt_eps", "more than 0", o.epsilon);
  require(o.weight_decay >= 0, "weight_decay", "0 or more", o.weight_decay);
  require(o.layer_decay > 0 && o.layer_decay <= 1, "layer_decay", "more than 0, at most 1",
          o.layer_decay);
}

bool is_descent(OptimiserKind kind) {
  return kind == OptimiserKind::kSgd || kind == OptimiserKind::kMomentum;
}

bool has_second_moments(OptimiserKind kind) {
  return kind == OptimiserKind::kAdam || kind == OptimiserKind::kAdamW;
}

// The fused kernels walk through memory side by side, so a gradient must lie as its parameter does.
at::Tensor in_layout_of(const at::Tensor& parameter, const at::Tensor& gradient) {
  if (gradient.strides() == parameter.strides()) return gradient;
  return at::empty_like(parameter).copy_(gradient);
}

// Weights decay first, by the rate times `weight_decay`. Each then moves by the rate, against the
// sign of a mean of momentum and gradient; LibTorch has no fused kernel of it.
void step_lion(at::TensorList parameters, at::TensorList gradients, at::TensorList moments,
               double rate, double weight_decay, const OptimiserOptions& options) {
  if (weight_decay > 0) at::_foreach_mul_(parameters, 1 - rate * weight_decay);
  const std::vector<at::Tensor> updates = at::_foreach_mul(moments, options.beta1);
  at::_foreach_add_(updates, gradients, 1 - options.beta1);
  at::_foreach_sign_(updates);
  at::_foreach_add_(parameters, updates, -rate);
  at::_foreach_lerp_(moments, gradients, 1 - options.beta2);
}

}  // namespace

std::span<const std::string> optimiser_names() { return kNames; }

OptimiserKind parse_optimiser_kind(std::string_view name) {
  return static_cast<OptimiserKind>(place_of_name(name, kNames, "optimiser"));
}

Optimiser::Optimiser(const std::vector<ModelStage>& stages, const OptimiserOptions& options)
    : options_(options) {
  check(options);
  double share = 1;
  for (std::size_t i = stages.size(); i-- > 0;) {
    for (const NamedTensor& parameter : stages[i].parameters) {
      add(group_of(parameter.tensor.dim() > 1 ? options.weight_decay : 0, share), parameter);
    }
    share *= options.layer_decay;
  }
}

Optimiser::Group& Optimiser::group_of(double weight_decay, double rate_share) {
  for (Group& group : groups_) {
    if (group.weight_decay == weight_decay && group.rate_share == rate_share) return group;
  }
  Group& group = groups_.emplace_back();
  group.weight_decay = weight_decay;
  group.rate_share = rate_share;
  return group;
}

bool Optimiser::uses_momentum() const {
  return !is_descent(options_.kind) || options_.momentum > 0;
}

void Optimiser::add(Group& group, const NamedTensor& parameter) const {
  group.names.push_back(parameter.name);
  group.parameters.push_back(parameter.tensor);
  const at::Tensor zeros = at::zeros_like(parameter.tensor).detach();
  if (uses_momentum()) group.first_moments.push_back(zeros);
  if (!has_second_moments(options_.kind)) return;
  group.second_moments.push_back(zeros.clone());
  group.steps.push_back(at::zeros({}, zeros.options()));
}

void Optimiser::step(double rate) {
  const at::NoGradGuard no_grad;
  for (Group& group : groups_) step_group(group, rate * group.rate_share);
}

void Optimiser::step_group(Group& group, double rate) const {
  std::vector<at::Tensor> parameters, gradients, first, second, steps;
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    at::Tensor& gradient = group.parameters[i].mutable_grad();
    if (!gradient.defined()) continue;
    parameters.push_back(group.parameters[i]);
    gradients.push_back(in_layout_of(group.parameters[i], gradient));
    if (uses_momentum()) first.push_back(group.first_moments[i]);
    if (has_second_moments(options_.kind)) {
      second.push_back(group.second_moments[i]);
      steps.push_back(group.steps[i].add_(1));
    }
    gradient.reset();
  }
  if (parameters.empty()) return;
  const OptimiserOptions& o = options_;
  switch (o.kind) {
    case OptimiserKind::kSgd:
    case OptimiserKind::kMomentum:
      // The moments start at 0, so the first step needs no case of its own.
      at::_fused_sgd_(parameters, gradients, first, group.weight_decay, o.momentum, rate,
                      /*dampening=*/0, /*nesterov=*/o.kind == OptimiserKind::kSgd && o.momentum > 0,
                      /*maximize=*/false, /*is_first_step=*/false);
      break;
    case OptimiserKind::kAdam:
      at::_fused_adam_(parameters, gradients, first, second, {}, steps, rate, o.beta1, o.beta2,
                       group.weight_decay, o.epsilon, /*amsgrad=*/false, /*maximize=*/false);
      break;
    case OptimiserKind::kAdamW:
      at::_fused_adamw_(parameters, gradients, first, second, {}, steps, rate, o.beta1, o.beta2,
                        group.weight_decay, o.epsilon, /*amsgrad=*/false, /*maximize=*/false);
      break;
    case OptimiserKind::kLion:
      step_lion(parameters, gradients, first, rate, group.weight_decay, o);
      break;
  }
}

std::vector<at::Tensor> Optimiser::gradients() const {
  std::vector<at::Tensor> all;
  for (const Group& group : groups_) {
    for (const at::Tensor& parameter : group.parameters) {
      if (parameter.grad().defined()) all.push_back(parameter.grad());
    }
  }
  return all;
}

bool Optimiser::unscale_gradients(double scale) {
  const std::vector<at::Tensor> all = gradients();
  if (all.empty()) return true;
  const at::NoGradGuard no_grad;
  const auto options = all.front().options().dtype(at::kFloat);
  at::Tensor found = at::zeros({1}, options);
  at::_amp_foreach_non_finite_check_and_unscale_(all, found, at::full({1}, 1 / scale, options));
  return found.item<float>() == 0;
}

void Optimiser::forget_gradients() {
  for (Group& group : groups_) {
    for (at::Tensor& parameter : group.parameters) parameter.mutable_grad().reset();
  }
}

double Optimiser::clip_gradients(double limit) {
  std::vector<at::Tensor> norms;
  const std::vector<at::Tensor> all = gradients();
  for (const at::Tensor& gradient : all) norms.push_back(at::linalg_vector_norm(gradient));
  const double norm = norms.empty() ? 0 : at::linalg_vector_norm(at::stack(norms)).item<double>();
  if (norm > limit) {
    for (const at::Tensor& gradient : all) gradient.mul_(limit / norm);
  }
  return norm;
}

std::vector<NamedTensor> Optimiser::state() const {
  std::vector<NamedTensor> named;
  const auto append = [&](const Group& group, const std::vector<at::Tensor>& tensors,
                          const char* what) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      named.push_back({fmt::format("{}.{}", group.names[i], what), tensors[i]});
    }
  };
  for (const Group& group : groups_) {
    append(group, group.first_moments, "first_moment");
    append(group, group.second_moments, "second_moment");
    append(group, group.steps, "steps");
  }
  return named;
}

}  // namespace stoker
