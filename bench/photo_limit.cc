// What the feed costs over the work itself, for photographs: threads that read, decode the part,
// resize and normalise each into one buffer of its own, against the feed with as many workers. In
// turn, several rounds, medians.
//
//   build/release/bench/photo_limit FOLDER [ROUNDS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "stoker/data/catalog.h"
#include "stoker/pipeline/detail/sample_maker.h"
#include "stoker/pipeline/feed.h"

namespace stoker {
namespace {

using Clock = std::chrono::steady_clock;

const Policy& policy() {
  static const Policy train = Policy::parse("imagenet-train");
  return train;
}

double rate(std::uint64_t samples, Clock::time_point start) {
  return static_cast<double>(samples) / std::chrono::duration<double>(Clock::now() - start).count();
}

// Worker w makes samples w, w + workers, …
double bare(const Source& source, const FeedOptions& options) {
  const ImageShape shape = sample_shape(source, policy());
  const auto start = Clock::now();
  std::vector<std::jthread> threads;
  for (int w = 0; w < options.workers; ++w) {
    threads.emplace_back([&, w] {
      detail::SampleMaker maker({.source = source,
                                 .policy = policy(),
                                 .shape = shape,
                                 .pixel_type = options.pixel_type,
                                 .normalisation = options.normalisation,
                                 .channels_last = false,
                                 .framing = options.framing,
                                 .seed = options.seed,
                                 .views = options.views});
      std::vector<float> floats(shape.bytes());
      for (std::uint64_t i = static_cast<std::uint64_t>(w); i < source.size();
           i += static_cast<std::uint64_t>(options.workers)) {
        maker.make({.index = i, .pixels = std::as_writable_bytes(std::span(floats))});
      }
    });
  }
  threads.clear();  // joins
  return rate(source.size(), start);
}

double fed(const std::shared_ptr<const Source>& source, const FeedOptions& options) {
  const auto start = Clock::now();
  Feed feed(source, policy(), options);
  while (feed.next()) {
  }
  return rate(source->size(), start);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(const char* folder, int rounds) {
  const auto source = open_data(folder, Split::kTrain);
  fmt::print("{} photographs, imagenet-train, median of {} rounds\n\n", source->size(), rounds);
  fmt::print(
      "| workers | the work alone, samples/s | feed, samples/s | share |\n|---|---|---|---|\n");
  for (const int workers : {1, 2}) {
    const FeedOptions options{.workers = workers, .framing = {.exact_decode = false}};
    std::vector<double> alone, feed;
    for (int round = 0; round < rounds; ++round) {
      alone.push_back(bare(*source, options));
      feed.push_back(fed(source, options));
    }
    fmt::print("| {} | {:.0f} | {:.0f} | {:.0f} % |\n", workers, median(alone), median(feed),
               100 * median(feed) / median(alone));
  }
}

}  // namespace
}  // namespace stoker

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: photo_limit FOLDER [ROUNDS]\n");
    return 2;
  }
  try {
    stoker::run(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 7);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "photo_limit: %s\n", error.what());
    return 1;
  }
}
