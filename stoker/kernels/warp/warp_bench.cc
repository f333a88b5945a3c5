#include <benchmark/benchmark.h>

#include "stoker/kernels/simd.h"
#include "stoker/kernels/warp/warp.h"

namespace stoker {
namespace {

// The bare kernel on one core: one square image a step, turned a little.
void warp(benchmark::State& state, const std::string& simd) {
  force_simd(simd);
  const int side = static_cast<int>(state.range(0)), channels = static_cast<int>(state.range(1));
  Image in({.height = side, .width = side, .channels = channels});
  for (std::size_t i = 0; i < in.shape().bytes(); ++i) {
    in.view().data[i] = static_cast<std::uint8_t>(i * 37);
  }
  Image out(in.shape());
  WarpScratch scratch;
  double angle = -15;
  for (auto _ : state) {
    angle = angle > 15 ? -15 : angle + 0.37;
    warp_affine(out.view(), in.view(), to_fixed(rotation(angle, side / 2.0, side / 2.0)), scratch);
    benchmark::DoNotOptimize(out.view().data);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  force_simd("auto");
}

const int kRegistered = [] {
  for (const auto& name : available_simd()) {
    benchmark::RegisterBenchmark(("warp/" + name).c_str(), warp, name)
        ->Args({28, 1})
        ->Args({224, 1})
        ->Args({224, 3});
  }
  return 0;
}();

}  // namespace
}  // namespace stoker
