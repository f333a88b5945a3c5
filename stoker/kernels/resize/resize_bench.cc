#include <string>

#include <benchmark/benchmark.h>

#include "stoker/kernels/resize/resize.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

// The bare kernel on one core: RGB to 224x224, weights made anew for each image, as for random
// crops. Arguments: height, width, antialias.
void resize_to_224(benchmark::State& state, const std::string& simd, ResizeFilter filter) {
  force_simd(simd);
  const int height = static_cast<int>(state.range(0)), width = static_cast<int>(state.range(1));
  Image in({.height = height, .width = width, .channels = 3});
  for (std::size_t i = 0; i < in.shape().bytes(); ++i) {
    in.view().data[i] = static_cast<std::uint8_t>(i * 37);
  }
  Image out({.height = 224, .width = 224, .channels = 3});
  ResizeScratch scratch;
  const ResizeOptions options{.filter = filter,
                              .antialias = state.range(2) != 0 ? Antialias::kOn : Antialias::kOff};
  for (auto _ : state) {
    resize(out.view(), in.view(), whole_image(in.shape()), options, scratch);
    benchmark::DoNotOptimize(out.view().data);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  force_simd("auto");
}

const int kRegistered = [] {
  const auto add = [](const std::string& title, const std::string& simd, ResizeFilter filter) {
    return benchmark::RegisterBenchmark((title + "/" + simd).c_str(), resize_to_224, simd, filter)
        ->Unit(benchmark::kMicrosecond);
  };
  for (const auto& name : available_simd()) {
    add("resize_bilinear", name, ResizeFilter::kBilinear)
        ->Args({250, 300, 1})
        ->Args({375, 500, 1})
        ->Args({1500, 2000, 1})
        ->Args({375, 500, 0});
    add("resize_bicubic", name, ResizeFilter::kBicubic)->Args({375, 500, 1});
    add("resize_lanczos", name, ResizeFilter::kLanczos)->Args({375, 500, 1});
  }
  return 0;
}();

}  // namespace
}  // namespace stoker
