// Decoding a photograph of about 500x375, whole, and the crops that a random resized crop takes.
// Real photographs under $STOKER_TEST_DATA/photos; one of them again and again says too little,
// because the time depends on the image.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <benchmark/benchmark.h>

#include "stoker/core/rng.h"
#include "stoker/image/decode.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<char>> load_photos() {
  const char* folder = std::getenv("STOKER_TEST_DATA");
  const fs::path photos = fs::path(folder == nullptr ? "../shared/data" : folder) / "photos";
  std::vector<fs::path> paths;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(photos, missing)) {
    if (entry.path().extension() == ".JPEG") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::vector<char>> files;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

// A square-ish region of this fraction of the image, anywhere.
Region crop(const ImageHeader& header, double share, Rng& rng) {
  const int width = std::max(1, static_cast<int>(header.width * share));
  const int height = std::max(1, static_cast<int>(header.height * share));
  return {static_cast<int>(rng.uniform(0, header.width - width)),
          static_cast<int>(rng.uniform(0, header.height - height)), width, height};
}

// `percent` of each side; 100 is the whole image.
void decode_photos(benchmark::State& state) {
  static const auto files = load_photos();
  if (files.empty()) return state.SkipWithError("no photos under STOKER_TEST_DATA");
  ImageDecoder decoder;
  std::uint64_t number = 0;
  for (auto _ : state) {
    Rng rng({.seed = 1, .sample = number}, 0);
    const auto& file = files[number++ % files.size()];
    const ImageHeader header = decoder.open(std::as_bytes(std::span(file))).value();
    const double share = static_cast<double>(state.range(0)) / 100;
    benchmark::DoNotOptimize(decoder.decode({.region = crop(header, share, rng)}).value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode_photos)->Arg(100)->Arg(70)->Arg(50)->Arg(30)->Unit(benchmark::kMicrosecond);

void read_headers(benchmark::State& state) {
  static const auto files = load_photos();
  if (files.empty()) return state.SkipWithError("no photos under STOKER_TEST_DATA");
  ImageDecoder decoder;
  std::uint64_t number = 0;
  for (auto _ : state) {
    const auto& file = files[number++ % files.size()];
    benchmark::DoNotOptimize(decoder.open(std::as_bytes(std::span(file))).value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_headers)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stoker
