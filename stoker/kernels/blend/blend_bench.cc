#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "stoker/kernels/blend/blend.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

// An image of 224x224 colours.
void blend_and_saturate(benchmark::State& state, const std::string& simd) {
  force_simd(simd);
  std::vector<std::uint8_t> values(3 * 224 * 224, 90), base(values.size(), 70);
  for (auto _ : state) {
    blend(values.data(), base.data(), values.size(), 1.2F);
    saturate(values.data(), values.size() / 3, 0.9F);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  force_simd("auto");
}

const int kRegistered = [] {
  for (const auto& name : available_simd()) {
    benchmark::RegisterBenchmark(("blend/" + name).c_str(), blend_and_saturate, name);
  }
  return 0;
}();

}  // namespace
}  // namespace stoker
