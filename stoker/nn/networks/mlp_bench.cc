// The perceptron's gradients, written out and by autograd, on one thread: which one training should
// use.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include "stoker/nn/networks/mlp.h"

namespace stoker {
namespace {

struct Setting {
  Mlp mlp{{784, 128, 10}, Activation::kSigmoid, 1};
  torch::Tensor x, labels;

  explicit Setting(std::int64_t samples)
      : x(torch::rand({samples, 784})), labels(torch::randint(10, {samples}, torch::kLong)) {
    at::set_num_threads(1);
  }
};

void forget_gradients(Mlp& mlp) {
  for (auto& weight : mlp.layers().weights) weight.mutable_grad().reset();
  for (auto& bias : mlp.layers().biases) bias.mutable_grad().reset();
}

void written_out(benchmark::State& state) {
  Setting setting(state.range(0));
  for (auto _ : state) {
    forget_gradients(setting.mlp);
    benchmark::DoNotOptimize(
        setting.mlp.backward(setting.x, setting.labels, {}).loss.item<double>());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(written_out)->Arg(16)->Arg(64)->Arg(256);

void by_autograd(benchmark::State& state) {
  Setting setting(state.range(0));
  for (auto& weight : setting.mlp.layers().weights) weight.requires_grad_(true);
  for (auto& bias : setting.mlp.layers().biases) bias.requires_grad_(true);
  for (auto _ : state) {
    forget_gradients(setting.mlp);
    const auto loss =
        torch::nn::functional::cross_entropy(setting.mlp.forward(setting.x), setting.labels);
    loss.backward();
    benchmark::DoNotOptimize(loss.item<double>());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(by_autograd)->Arg(16)->Arg(64)->Arg(256);

}  // namespace
}  // namespace stoker
