#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "stoker/kernels/noise/noise.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

void noise(benchmark::State& state, const std::string& simd) {
  force_simd(simd);
  std::vector<std::uint8_t> values(static_cast<std::size_t>(state.range(0)));
  std::uint64_t sample = 0;
  for (auto _ : state) {
    add_noise(values.data(), values.size(), noise_amplitude(0.1),
              rng_stream({.seed = 1, .sample = sample++}, 0));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  force_simd("auto");
}

const int kRegistered = [] {
  for (const auto& name : available_simd()) {
    benchmark::RegisterBenchmark(("noise/" + name).c_str(), noise, name)->Arg(28 * 28);
  }
  return 0;
}();

}  // namespace
}  // namespace stoker
