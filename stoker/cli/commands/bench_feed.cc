// `stoker bench feed`: how fast the feed is, and a digest of everything it gave.
//
// Two passes over the same batches: the first computes the digest and warms up, the second is timed
// and only takes the batches, so that the reader's own work does not count as the feed's.
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/data_flags.h"
#include "stoker/cli/npy.h"
#include "stoker/cli/progress.h"
#include "stoker/cli/setting_flags.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/data_order.h"
#include "stoker/core/error.h"
#include "stoker/kernels/simd.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/normalise_settings.h"
#include "stoker/run/batch_digest.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

struct BenchFlags {
  DataFlags data;
  FeedOptions feed;
  std::string from = "0:0";
  std::string digest_from = "0:0";
  std::string dtype = "float32";
  std::string simd = "auto";
  NormaliseSettings normalise;
  bool antialias = true;
  BenchFlags() { feed.framing.exact_decode = false; }
  std::string save_batch;
  std::string save_order;
  bool digest = true;
  bool json = false;
};

struct BenchResult {
  std::string digest;  // empty where it was not asked for
  std::uint64_t samples = 0;
  double seconds = 0;
  FeedStats stats;
  int workers = 0;
};

std::uint64_t planned_samples(const BatchPlan& plan, const FeedOptions& options) {
  const std::uint64_t total = plan.samples_per_epoch() * options.epochs;
  const std::uint64_t skipped =
      plan.samples_per_epoch() * options.begin.epoch + options.begin.position;
  return total > skipped ? total - skipped : 0;
}

std::string digest_pass(const std::shared_ptr<const Source>& source, const Policy& policy,
                        const BenchFlags& flags) {
  const Cursor from = parse_cursor(flags.digest_from);
  BatchDigest digest;
  Feed feed(source, policy, flags.feed);
  Progress progress("digest", planned_samples(feed.plan(), flags.feed));
  std::uint64_t done = 0;
  while (const auto batch = feed.next()) {
    if (done == 0 && !flags.save_batch.empty()) write_npy(flags.save_batch, *batch);
    digest.add(*batch, from);
    progress.update(done += batch->size());
  }
  return digest.hex();
}

// Which samples came in which batch: a line each, on the disk's side of this program when add()
// returns, so that what a killed run gave is known.
class OrderFile {
 public:
  explicit OrderFile(const std::string& path) {
    if (path.empty()) return;
    file_.reset(std::fopen(path.c_str(), "ab"));
    if (!file_) throw Error({.what = "cannot write the order", .path = path});
  }
  void add(const Batch& batch) {
    if (!file_) return;
    fmt::print(file_.get(), "{}\t{}\n", batch.number(), fmt::join(batch.indices(), " "));
    std::fflush(file_.get());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

void timed_pass(const std::shared_ptr<const Source>& source, const Policy& policy,
                const BenchFlags& flags, BenchResult& result) {
  const auto start = std::chrono::steady_clock::now();
  Feed feed(source, policy, flags.feed);
  Progress progress("timing", planned_samples(feed.plan(), flags.feed));
  OrderFile order(flags.save_order);
  while (const auto batch = feed.next()) {
    order.add(*batch);
    progress.update(result.samples += batch->size());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.stats = feed.stats();
  result.workers = feed.workers();
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double samples_per_second(const BenchResult& result) {
  return result.seconds > 0 ? static_cast<double>(result.samples) / result.seconds : 0;
}

void print_json(const BenchFlags& flags, const Policy& policy, const BenchResult& result) {
  const StageShares& stages = result.stats.stages;
  nlohmann::ordered_json json;
  if (!result.digest.empty()) json["digest"] = result.digest;
  json["data_order_version"] = kDataOrderVersion;
  json["samples_per_second"] = samples_per_second(result);
  json["wait_share"] = result.stats.wait_share;
  json["workers"] = result.workers;
  json["simd"] = active_simd();
  json["samples"] = result.samples;
  json["seconds"] = result.seconds;
  json["stages"] = {{"store", stages.store},
                    {"read", stages.read},
                    {"augment", stages.augment},
                    {"write", stages.write},
                    {"blocked", stages.blocked}};
  json["ring_batches"] = result.stats.ring_batches;
  json["ring_fill_mean"] = mean(result.stats.ring_fill);
  json["ring_fill"] = result.stats.ring_fill;
  json["data"] = flags.data.data;
  json["split"] = flags.data.split;
  json["policy"] = policy.text();
  json["seed"] = flags.data.seed;
  json["epochs"] = flags.feed.epochs;
  json["from"] = flags.from;
  json["batch_size"] = flags.feed.batch_size;
  if (flags.feed.views > 1) json["views"] = flags.feed.views;
  json["dtype"] = flags.dtype;
  json["antialias"] = flags.antialias;
  json["isolate"] = flags.feed.isolate;
  json["exact_decode"] = flags.feed.framing.exact_decode;
  fmt::print("{}\n", json_text(json));
}

void print_text(const BenchFlags& flags, const Policy& policy, const BenchResult& result) {
  const StageShares& stages = result.stats.stages;
  fmt::print("data       {} ({}), augmentation {}\n", flags.data.data, flags.data.split,
             policy.text().empty() ? "none" : policy.text());
  fmt::print("workers    {} ({}), SIMD {}\n", result.workers,
             flags.feed.workers == 0 ? cpu_budget().reason : "as asked", active_simd());
  fmt::print("speed      {:.0f} samples/s ({} samples in {:.3f} s)\n", samples_per_second(result),
             result.samples, result.seconds);
  fmt::print("data wait  {:.1f} % of the time; {:.1f} of {} batches were ready on average\n",
             100 * result.stats.wait_share, mean(result.stats.ring_fill),
             result.stats.ring_batches);
  fmt::print(
      "workers    store {:.1f} %, read {:.1f} %, augment {:.1f} %, write {:.1f} %, ring full "
      "{:.1f} "
      "%\n",
      100 * stages.store, 100 * stages.read, 100 * stages.augment, 100 * stages.write,
      100 * stages.blocked);
  if (!result.digest.empty())
    fmt::print("digest     {} (data order {})\n", result.digest, kDataOrderVersion);
}

void run(BenchFlags flags) {
  force_simd(flags.simd == "auto" ? active_simd() : flags.simd);
  flags.feed.begin = parse_cursor(flags.from);
  flags.feed.seed = flags.data.seed;
  flags.feed.framing.antialias = flags.antialias ? Antialias::kOn : Antialias::kOff;
  flags.feed.pixel_type = flags.dtype == "uint8" ? PixelType::kU8 : PixelType::kF32;
  const auto source = flags.data.open();
  const Policy policy = flags.data.parse_policy();
  flags.normalise.resolve(source->channels());
  flags.feed.normalisation = flags.normalise.normalisation();
  BenchResult result;
  if (flags.digest || !flags.save_batch.empty()) {
    const std::string digest = digest_pass(source, policy, flags);
    if (flags.digest) result.digest = digest;
  }
  timed_pass(source, policy, flags, result);
  if (flags.json) {
    print_json(flags, policy, result);
  } else {
    print_text(flags, policy, result);
  }
}

void add_feed_flags(const Command& command, BenchFlags& flags) {
  flags.data.add_to(command);
  command.add_option("--epochs", flags.feed.epochs, "number of epochs");
  command
      .add_option("-j,--workers", flags.feed.workers,
                  "threads; 0: what the job may use, at least 2")
      .between(0, 4096);
  command.add_option("-b,--batch-size", flags.feed.batch_size, "samples a batch")
      .between(1, 1 << 24);
  command.add_option("--views", flags.feed.views, "augmented versions of each sample")
      .between(1, 64);
  command.add_option("--batches-per-epoch", flags.feed.batches_per_epoch,
                     "only the first ones; 0: all");
  command.add_option("--ring", flags.feed.ring_batches,
                     "batches in flight; 0: two a worker, at least 4");
  command.add_flag("!--no-shuffle", flags.feed.shuffle, "take samples in their order");
  command.add_option("--dtype", flags.dtype, "float32 (normalised) or uint8")
      .one_of({"float32", "uint8"});
  add_settings(command, settings_of(flags.normalise));
  command.add_flag("!--no-antialias", flags.antialias, "shrink images without antialiasing");
  command.add_flag("--exact-decode", flags.feed.framing.exact_decode,
                   "never decode JPEGs at a half, a quarter or an eighth");
  command.add_flag("--isolate", flags.feed.isolate,
                   "decode in locked-down processes, for files that are not trusted");
  command.add_option("--from", flags.from, "start at EPOCH:POSITION");
}

}  // namespace

void add_bench_command(const Command& parent) {
  const Command bench = parent.add_command("bench", "Run benchmarks");
  bench.require_command();
  const Command command = bench.add_command(
      "feed", "Measure the data pipeline in samples per second, with a digest of all batches");
  auto flags = std::make_shared<BenchFlags>();
  add_feed_flags(command, *flags);
  command.add_option("--simd", flags->simd, "force a version of the kernels, as STOKER_SIMD does");
  command.add_option("--digest-from", flags->digest_from,
                     "digest only what comes at or after EPOCH:POSITION");
  command.add_flag("!--no-digest", flags->digest, "do not compute the digest (saves a pass)");
  command.add_option("--save-batch", flags->save_batch,
                     "write the first batch's pixels to a .npy file");
  command.add_option("--save-order", flags->save_order,
                     "append the sample indices of every batch to this file, a line a batch");
  command.add_option("--rank", flags->feed.rank, "give what this one of --ranks gets");
  command.add_option("--ranks", flags->feed.ranks, "between how many batches are divided");
  command.add_flag("--json", flags->json, "print one JSON object");
  command.on_run([flags] { run(*flags); });
  add_bench_kernels_command(bench);
}

}  // namespace stoker
