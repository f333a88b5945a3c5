#include <string>

#include <benchmark/benchmark.h>

#include "stoker/kernels/blur/blur.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

// An image of 224x224 colours.
void blur_image(benchmark::State& state, const std::string& simd) {
  force_simd(simd);
  const Image in({.height = 224, .width = 224, .channels = 3});
  Image out(in.shape());
  BlurScratch scratch;
  const BlurWeights weights = gaussian_weights(23, static_cast<double>(state.range(0)));
  for (auto _ : state) {
    blur(out.view(), in.view(), weights, scratch);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  force_simd("auto");
}

const int kRegistered = [] {
  for (const auto& name : available_simd()) {
    benchmark::RegisterBenchmark(("blur/" + name).c_str(), blur_image, name)->Arg(1)->Arg(5);
  }
  return 0;
}();

}  // namespace
}  // namespace stoker
