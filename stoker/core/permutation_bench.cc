#include <benchmark/benchmark.h>

#include "stoker/core/permutation.h"

namespace stoker {
namespace {

void lookup(benchmark::State& state) {
  const Permutation permutation(static_cast<std::uint64_t>(state.range(0)), 1, 1);
  std::uint64_t place = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(permutation[place]);
    if (++place == permutation.size()) place = 0;
  }
}
BENCHMARK(lookup)->Arg(60'000)->Arg(1'000'000'000)->Arg(10'000'000'000);

}  // namespace
}  // namespace stoker
