#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "stoker/kernels/normalise/normalise.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

void to_floats(benchmark::State& state, const std::string& simd) {
  force_simd(simd);
  const int side = static_cast<int>(state.range(0)), channels = static_cast<int>(state.range(1));
  const Image in({.height = side, .width = side, .channels = channels});
  std::vector<float> out(in.shape().bytes());
  for (auto _ : state) {
    normalise(out.data(), in.view(), {});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  force_simd("auto");
}

const int kRegistered = [] {
  for (const auto& name : available_simd()) {
    benchmark::RegisterBenchmark(("normalise/" + name).c_str(), to_floats, name)
        ->Args({28, 1})
        ->Args({224, 3});
  }
  return 0;
}();

}  // namespace
}  // namespace stoker
