#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "stoker/kernels/mirror/mirror.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

// An image of 224x224 colours.
void mirror_image(benchmark::State& state, const std::string& simd) {
  force_simd(simd);
  const std::vector<std::uint8_t> in(3 * 224);
  std::vector<std::uint8_t> out(in.size());
  for (auto _ : state) {
    for (int y = 0; y < 224; ++y) mirror_row(out.data(), in.data(), 224, 3);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
  force_simd("auto");
}

const int kRegistered = [] {
  for (const auto& name : available_simd()) {
    benchmark::RegisterBenchmark(("mirror/" + name).c_str(), mirror_image, name);
  }
  return 0;
}();

}  // namespace
}  // namespace stoker
