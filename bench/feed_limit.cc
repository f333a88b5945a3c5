// How near the feed comes to its limit: the bare kernels on one core, on an image that stays in the
// first-level cache, with the maps drawn beforehand. All sides in turn, several rounds, medians.
//
//   build/release/bench/feed_limit [ROUNDS] [EPOCHS]
//
// Needs Fashion-MNIST (Debian's dataset-fashion-mnist).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/data/catalog.h"
#include "stoker/kernels/noise/noise.h"
#include "stoker/kernels/normalise/normalise.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/warp/warp.h"
#include "stoker/pipeline/feed.h"

namespace stoker {
namespace {

constexpr const char* kWarpOnly = "rotate(-15,15),shift(-2,2),skew(-0.15,0.15)";

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<FixedAffine> draw_maps() {
  std::vector<FixedAffine> maps;
  Rng rng({.seed = 1}, 0);
  for (int i = 0; i < 256; ++i) {
    const Affine map = then(then(rotation(rng.uniform(-15, 15), 13.5, 13.5),
                                 translation(rng.uniform(-2, 2), rng.uniform(-2, 2))),
                            skewing(rng.uniform(-0.15, 0.15)));
    maps.push_back(to_fixed(map));
  }
  return maps;
}

// The kernels alone; `all` adds noise and the step to floats to the warp.
double bare_kernels(const ImageView& image, int samples, bool all) {
  const std::vector<FixedAffine> maps = draw_maps();
  Image out(image.shape);
  std::vector<float> floats(image.shape.bytes());
  WarpScratch scratch;
  return samples / seconds_of([&] {
           for (int i = 0; i < samples; ++i) {
             warp_affine(out.view(), image, maps[static_cast<std::size_t>(i) % maps.size()],
                         scratch);
             if (!all) continue;
             const auto stream =
                 rng_stream({.seed = 1, .sample = static_cast<std::uint64_t>(i)}, 0);
             add_noise(out.view().data, image.shape.bytes(), noise_amplitude(0.1), stream);
             normalise(floats.data(), std::as_const(out).view(), {});
           }
         });
}

double feed(const std::shared_ptr<const Source>& source, bool all, std::uint32_t epochs) {
  const Policy policy = Policy::parse(all ? "mnist" : kWarpOnly);
  const FeedOptions options{
      .workers = 1, .epochs = epochs, .pixel_type = all ? PixelType::kF32 : PixelType::kU8};
  return static_cast<double>(source->size() * epochs) / seconds_of([&] {
           Feed feed(source, policy, options);
           while (feed.next()) {
           }
         });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(int rounds, std::uint32_t epochs) {
  const auto source = open_data("fashion-mnist", Split::kTrain);
  SampleBuffer buffer;
  const Image image(source->read(0, buffer).value().image);
  const int samples = static_cast<int>(source->size() * epochs);
  std::vector<double> warp, kernels, feed_warp, feed_all;
  for (int round = 0; round < rounds; ++round) {
    warp.push_back(bare_kernels(image.view(), samples, false));
    feed_warp.push_back(feed(source, false, epochs));
    kernels.push_back(bare_kernels(image.view(), samples, true));
    feed_all.push_back(feed(source, true, epochs));
  }
  const auto row = [](const char* name, double bare, double fed) {
    fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} % |\n", name, bare, fed, 100 * fed / bare);
  };
  fmt::print("28x28, one worker, SIMD {}, median of {} rounds\n\n", active_simd(), rounds);
  fmt::print(
      "| work | bare kernels, samples/s | feed, samples/s | fraction |\n|---|---|---|---|\n");
  row("warp, bytes", median(warp), median(feed_warp));
  row("warp, noise, floats", median(kernels), median(feed_all));
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  try {
    stoker::run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9,
                static_cast<std::uint32_t>(argc > 2 ? std::max(1, std::atoi(argv[2])) : 10));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "feed_limit: %s\n", error.what());
    return 1;
  }
}
