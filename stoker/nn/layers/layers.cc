#include "stoker/nn/layers/layers.h"

#include <cmath>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/layers/initial_weights.h"
#include "stoker/nn/layers/running_share.h"
#include "stoker/nn/layers/shared_statistics.h"

namespace stoker {
namespace {

constexpr double kRunningShare = 0.1;  // of the newest batch in the running statistics

// A leaf that autograd fills.
void make_leaf(at::Tensor& tensor) { tensor = tensor.detach().requires_grad_(true); }

// The same leaf elsewhere, frozen if it was; autograd would take a moved tensor for a computed one.
void move_leaf(at::Tensor& tensor, const at::Device& device) {
  tensor = tensor.detach().to(device).requires_grad_(tensor.requires_grad());
}

}  // namespace

Convolution::Convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t side,
                         LayerSeed& seed)
    : Convolution(uniform_weights({outputs, inputs, side, side},
                                  std::sqrt(6.0 / static_cast<double>(inputs * side * side)),
                                  seed.seed, seed.next_layer++)) {}

Convolution::Convolution(const at::Tensor& weights)
    : weight(weights.contiguous(at::MemoryFormat::ChannelsLast)) {
  make_leaf(weight);
}

at::Tensor Convolution::operator()(const at::Tensor& x) const {
  return at::conv2d(x, weight, {}, stride, weight.size(2) / 2, /*dilation=*/1, groups);
}

void Convolution::append_parameters(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".weight", weight});
}

GraphReference Convolution::append_nodes(const std::string& name, GraphBuilder& graph,
                                         GraphReference x) const {
  return graph.convolution(name, x,
                           {.inputs = weight.size(1) * groups,
                            .outputs = weight.size(0),
                            .side = weight.size(2),
                            .stride = stride,
                            .groups = groups});
}

void Convolution::to(const at::Device& device) { move_leaf(weight, device); }

void check_norm_batch(const at::Tensor& x) {
  // A rank may have no sample in a short batch; LibTorch then changes no statistics.
  if (x.size(0) == 0 || x.numel() > x.size(1)) return;
  throw Error({.what = "batch normalisation cannot learn from this batch",
               .expected = "at least two values for each channel",
               .found = fmt::format("a batch of ({})", fmt::join(x.sizes(), ", ")),
               .hint = "Take a batch size that leaves no single sample over, or larger images"});
}

BatchNorm::BatchNorm(std::int64_t channels)
    : weight(at::ones({channels})),
      bias(at::zeros({channels})),
      running_mean(at::zeros({channels})),
      running_variance(at::ones({channels})) {
  make_leaf(weight);
  make_leaf(bias);
}

void BatchNorm::count_batches() { batches = at::zeros({}, at::kLong); }

NormTensors BatchNorm::tensors() const {
  return {
      weight,        bias, running_mean, running_variance, RunningShare::or_usual(kRunningShare),
      kVarianceFloor};
}

at::Tensor BatchNorm::operator()(const at::Tensor& x, const StageContext& context) const {
  const bool training = context.training;
  if (training && batches.defined()) batches.add_(1);
  const NormTensors norm = tensors();
  if (training && SharedStatistics::active()) return normalised_by_all_ranks(x, norm);
  if (training) check_norm_batch(x);
  return at::batch_norm(x, weight, bias, running_mean, running_variance, training,
                        norm.running_share, norm.variance_floor, /*cudnn_enabled=*/true);
}

at::Tensor BatchNorm::rectified(const at::Tensor& x, const StageContext& context,
                                const Bounds& bounds) const {
  if (!context.training || SharedStatistics::active() || !can_rectify_norm(x)) {
    return kept_between((*this)(x, context), bounds);
  }
  if (batches.defined()) batches.add_(1);
  check_norm_batch(x);
  return rectified_norm(x, tensors(), bounds);
}

void BatchNorm::append_parameters(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".weight", weight});
  out.push_back({name + ".bias", bias});
}

void BatchNorm::append_buffers(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".running_mean", running_mean});
  out.push_back({name + ".running_var", running_variance});
  if (batches.defined()) out.push_back({name + ".num_batches_tracked", batches});
}

GraphReference BatchNorm::append_nodes(const std::string& name, GraphBuilder& graph,
                                       GraphReference x) const {
  return graph.batch_norm(name, x,
                          {.channels = weight.size(0),
                           .epsilon = kVarianceFloor,
                           .momentum = kRunningShare,
                           .counts = batches.defined()});
}

void BatchNorm::to(const at::Device& device) {
  move_leaf(weight, device);
  move_leaf(bias, device);
  running_mean = running_mean.to(device);
  running_variance = running_variance.to(device);
  if (batches.defined()) batches = batches.to(device);
}

at::Tensor kept_between(at::Tensor x, const Bounds& bounds) {
  if (std::isinf(bounds.low)) return x;
  if (std::isinf(bounds.high)) return x.relu_();
  return at::hardtanh_(x, bounds.low, bounds.high);
}

Linear::Linear(std::int64_t inputs, std::int64_t outputs, LayerSeed& seed)
    : Linear(uniform_weights({outputs, inputs}, 1 / std::sqrt(static_cast<double>(inputs)),
                             seed.seed, seed.next_layer++),
             at::zeros({outputs})) {}

Linear::Linear(const at::Tensor& weights, const at::Tensor& biases)
    : weight(weights), bias(biases) {
  make_leaf(weight);
  make_leaf(bias);
}

at::Tensor Linear::operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }

void Linear::append_parameters(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".weight", weight});
  out.push_back({name + ".bias", bias});
}

void Linear::to(const at::Device& device) {
  move_leaf(weight, device);
  move_leaf(bias, device);
}

}  // namespace stoker
