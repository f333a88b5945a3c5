// A billion samples in a hundred thousand shards: the real manifest, order and plan at that size,
// and a model of what ranks ask of a store. `shard_scale [SHARDS SAMPLES_PER_SHARD]` prints what
// docs/shards.md says.
//
// Real: manifest text, parsing, layout, order, batch plan, resume, lookups, memory. Modelled: the
// store and the network: ranks take samples at a given speed, shards have 1 GB, a host has 8 ranks
// and one cache.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/rng.h"
#include "stoker/data/order/shard_order.h"
#include "stoker/data/shards/shard_manifest.h"
#include "stoker/pipeline/plan.h"

namespace {

using Clock = std::chrono::steady_clock;
using stoker::ShardLayout;
using stoker::ShardManifest;
using stoker::ShardOrder;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

std::string manifest_text(std::uint32_t shards, std::uint64_t samples) {
  ShardManifest manifest{.class_names = {"a", "b"}};
  const std::string digest(32, 'a');
  for (std::uint32_t i = 0; i < shards; ++i) {
    // Sizes differ by up to a tenth, as those of real shards do.
    const std::uint64_t count = samples - i * 7919ULL % (samples / 10 + 1);
    manifest.shards.push_back(
        {fmt::format("shard-{:06}.tar", i), count, count * 100'000, digest, 60 * count, digest});
  }
  return to_text(manifest);
}

std::shared_ptr<const ShardLayout> layout_of(const std::string& text, std::uint32_t window,
                                             std::uint32_t lanes) {
  const ShardManifest manifest = stoker::parse_manifest(text, "manifest");
  std::vector<std::uint64_t> samples;
  for (const auto& shard : manifest.shards) samples.push_back(shard.samples);
  return std::make_shared<ShardLayout>(samples, window, lanes);
}

// What a rank does before its first sample, in the middle of an epoch; what a lookup costs then.
void measure_start(const std::string& file, std::uint32_t lanes) {
  const auto start = Clock::now();
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto layout = layout_of(text, 16, lanes);
  const stoker::BatchPlan plan({.samples = layout->samples(),
                                .batch_size = 8192,
                                .begin = {.epoch = 3, .position = layout->samples() / 3},
                                .end_epoch = 10,
                                .rank = 5,
                                .ranks = 1024});
  ShardOrder::Reader reader(ShardOrder(layout, 1, true));
  const auto share = plan.share(plan.first_batch());
  volatile std::uint64_t sink = reader.sample_at(share.epoch, share.first_position);
  const double started = seconds_since(start);
  // In the order that a rank reads: neighbours are 1,024 positions apart.
  constexpr int kLookups = 2'000'000;
  std::uint64_t position = share.first_position;
  const auto begin = Clock::now();
  for (int i = 0; i < kLookups; ++i, position += 1024) {
    const std::uint64_t index = reader.sample_at(
        3 + static_cast<std::uint32_t>(position / layout->samples()), position % layout->samples());
    sink = layout->place_of(index).shard;
  }
  static_cast<void>(sink);
  fmt::print(
      "lanes {:4}: start in mid-epoch {:.2f} s, lookup with its shard {:.0f} ns, at most {:.0f} "
      "MiB resident\n",
      lanes, started, seconds_since(begin) / kLookups * 1e9, resident_mib());
}

// Which hosts read which shards, counted over a part of an epoch with the real order.
void count_fetches(const std::string& text, std::uint32_t ranks, std::uint32_t lanes,
                   std::uint32_t window) {
  constexpr std::uint32_t kRanksPerHost = 8;
  constexpr double kSamplesPerRank = 2000, kBytesPerSample = 100'000;
  const auto layout = layout_of(text, window, lanes);
  const std::uint32_t hosts = (ranks + kRanksPerHost - 1) / kRanksPerHost;
  ShardOrder::Reader reader(ShardOrder(layout, 1, true));
  std::vector<std::set<std::uint32_t>> shards_of(hosts);
  const std::uint64_t positions = std::min<std::uint64_t>(layout->samples(), 4'000'000);
  std::set<std::uint32_t> all;
  for (std::uint64_t position = 0; position < positions; ++position) {
    const std::uint32_t shard = layout->place_of(reader.sample_at(0, position)).shard;
    shards_of[position % ranks / kRanksPerHost].insert(shard);
    all.insert(shard);
  }
  std::uint64_t fetched = 0;
  for (const auto& shards : shards_of) fetched += shards.size();
  const double times = static_cast<double>(fetched) / static_cast<double>(all.size());
  const double used = ranks * kSamplesPerRank * kBytesPerSample;
  fmt::print("| {} | {} | {} | {} | {:.1f} | {:.1f} GB/s | {:.1f} GB/s | {:.1f}/s | {:.0f} GB |\n",
             ranks, hosts, lanes, window, times, used * times / 1e9, used * times / hosts / 1e9,
             used * times / 1e9, 2.0 * window * std::min(lanes, kRanksPerHost));
}

}  // namespace

int main(int argc, char** argv) {
  const auto shards = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 100'000);
  const std::uint64_t samples = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'500;
  const std::string file =
      (std::filesystem::temp_directory_path() / "stoker-scale-manifest.tsv").string();
  {
    const std::string text = manifest_text(shards, samples);
    std::ofstream(file, std::ios::binary) << text;
    fmt::print("manifest: {:.1f} MB\n", static_cast<double>(text.size()) / 1e6);
  }
  measure_start(file, 1);
  measure_start(file, 1024);
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  fmt::print(
      "| ranks | hosts | lanes | window | fetches of a shard | from the store | a host | GETs of 1 "
      "GB | cache of a host |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const std::uint32_t ranks : {8U, 64U, 1024U}) {
    count_fetches(text, ranks, 1, 16);
    count_fetches(text, ranks, ranks, 2);
  }
  std::remove(file.c_str());
}
