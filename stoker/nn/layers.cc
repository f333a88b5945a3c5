#include "stoker/nn/layers.h"

#include <cmath>

#include <ATen/ATen.h>

#include "stoker/nn/initial_weights.h"

namespace stoker {
namespace {

constexpr double kRunningShare = 0.1;  // of the newest batch in the running statistics
constexpr double kVarianceFloor = 1e-5;

// A leaf that autograd fills. After a move, it must become one again.
void make_leaf(at::Tensor& tensor) { tensor = tensor.detach().requires_grad_(true); }

}  // namespace

Convolution::Convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t side,
                         LayerSeed& seed)
    : weight(uniform_weights({outputs, inputs, side, side},
                             std::sqrt(6.0 / static_cast<double>(inputs * side * side)), seed.seed,
                             seed.next_layer++)
                 .contiguous(at::MemoryFormat::ChannelsLast)) {
  make_leaf(weight);
}

at::Tensor Convolution::operator()(const at::Tensor& x) const {
  return at::conv2d(x, weight, {}, stride, weight.size(2) / 2);
}

void Convolution::append_parameters(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".weight", weight});
}

void Convolution::to(const at::Device& device) {
  weight = weight.to(device);
  make_leaf(weight);
}

BatchNorm::BatchNorm(std::int64_t channels)
    : weight(at::ones({channels})),
      bias(at::zeros({channels})),
      running_mean(at::zeros({channels})),
      running_variance(at::ones({channels})) {
  make_leaf(weight);
  make_leaf(bias);
}

at::Tensor BatchNorm::operator()(const at::Tensor& x, bool training) const {
  return at::batch_norm(x, weight, bias, running_mean, running_variance, training, kRunningShare,
                        kVarianceFloor, /*cudnn_enabled=*/true);
}

void BatchNorm::append_parameters(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".weight", weight});
  out.push_back({name + ".bias", bias});
}

void BatchNorm::append_buffers(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".running_mean", running_mean});
  out.push_back({name + ".running_var", running_variance});
}

void BatchNorm::to(const at::Device& device) {
  for (at::Tensor* tensor : {&weight, &bias, &running_mean, &running_variance}) {
    *tensor = tensor->to(device);
  }
  make_leaf(weight);
  make_leaf(bias);
}

Linear::Linear(std::int64_t inputs, std::int64_t outputs, LayerSeed& seed)
    : weight(uniform_weights({outputs, inputs}, 1 / std::sqrt(static_cast<double>(inputs)),
                             seed.seed, seed.next_layer++)),
      bias(at::zeros({outputs})) {
  make_leaf(weight);
  make_leaf(bias);
}

at::Tensor Linear::operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }

void Linear::append_parameters(const std::string& name, std::vector<NamedTensor>& out) const {
  out.push_back({name + ".weight", weight});
  out.push_back({name + ".bias", bias});
}

void Linear::to(const at::Device& device) {
  weight = weight.to(device);
  bias = bias.to(device);
  make_leaf(weight);
  make_leaf(bias);
}

}  // namespace stoker
