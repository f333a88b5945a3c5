// What the executor adds to each operator: a chain of them as a graph, and called one by one.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <benchmark/benchmark.h>

#include "stoker/nn/graph/graph_builder.h"
#include "stoker/nn/graph/graph_executor.h"

namespace stoker {
namespace {

constexpr int kNodes = 500;

// add.Tensor: two tensors and a number with a default.
BuiltGraph chain() {
  GraphBuilder b;
  GraphReference x = b.images();
  for (int i = 0; i < kNodes; ++i) x = b.add(x, b.images());
  return b.finish(x);
}

void by_executor(benchmark::State& state) {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const BuiltGraph built = chain();
  const GraphExecutor executor(built.graph, std::vector<std::size_t>(kNodes, 0), "chain");
  const at::Tensor images = at::rand({1, 3, 2, 2});
  for (auto _ : state) {
    GraphValues values(built.graph.values.size());
    values[0] = images;
    executor.run(values, 0, kNodes, {.samples = 1});
    benchmark::DoNotOptimize(values);
  }
  state.SetItemsProcessed(state.iterations() * kNodes);
}
BENCHMARK(by_executor);

void one_by_one(benchmark::State& state) {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const at::Tensor images = at::rand({1, 3, 2, 2});
  for (auto _ : state) {
    at::Tensor x = images;
    for (int i = 0; i < kNodes; ++i) x = at::add(x, images);
    benchmark::DoNotOptimize(x);
  }
  state.SetItemsProcessed(state.iterations() * kNodes);
}
BENCHMARK(one_by_one);

}  // namespace
}  // namespace stoker
