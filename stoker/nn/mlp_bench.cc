// The perceptron's gradients, written out and by autograd, on one thread: which one training should
// use.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/torch.h>

#include "stoker/nn/mlp.h"

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

void written_out(benchmark::State& state) {
  const Setting setting(state.range(0));
  const torch::NoGradGuard no_grad;
  for (auto _ : state)
    benchmark::DoNotOptimize(setting.mlp.gradients(setting.x, setting.labels).loss);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(written_out)->Arg(16)->Arg(64)->Arg(256);

void by_autograd(benchmark::State& state) {
  Setting setting(state.range(0));
  std::vector<torch::Tensor> parameters = setting.mlp.parameters().weights;
  for (auto& bias : setting.mlp.parameters().biases) parameters.push_back(bias);
  for (auto& parameter : parameters) parameter.requires_grad_(true);
  for (auto _ : state) {
    for (auto& parameter : parameters) parameter.mutable_grad().reset();
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
