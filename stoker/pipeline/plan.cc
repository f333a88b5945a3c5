#include "stoker/pipeline/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr std::uint32_t kMaxBatchSize = 1 << 24;
constexpr std::uint64_t kMaxSamples = std::uint64_t{1} << 48;

void require(bool condition, const char* what, std::string expected, std::string found) {
  if (condition) return;
  throw Error({.what = what, .expected = std::move(expected), .found = std::move(found)});
}

void check(const PlanOptions& o) {
  require(o.samples >= 1 && o.samples <= kMaxSamples, "cannot make batches of this data",
          fmt::format("1 to {} samples", kMaxSamples), fmt::format("{}", o.samples));
  require(o.batch_size >= 1 && o.batch_size <= kMaxBatchSize, "cannot make batches of this size",
          fmt::format("1 to {} samples", kMaxBatchSize), fmt::format("{}", o.batch_size));
  require(o.ranks >= 1 && o.rank < o.ranks, "the rank is out of range",
          fmt::format("a rank below {}", o.ranks), fmt::format("{}", o.rank));
}

}  // namespace

BatchPlan::BatchPlan(const PlanOptions& options) : options_(options) {
  check(options);
  const std::uint64_t size = options.batch_size;
  epoch_samples_ = options.drop_last ? options.samples / size * size : options.samples;
  require(epoch_samples_ > 0, "no batch is full, and smaller ones are dropped",
          fmt::format("at least {} samples", size), fmt::format("{}", options.samples));
  batches_per_epoch_ = (epoch_samples_ + size - 1) / size;
  if (options.batches_per_epoch > batches_per_epoch_) {
    plan_passes();
  } else if (options.batches_per_epoch > 0) {
    batches_per_epoch_ = options.batches_per_epoch;
    epoch_samples_ = std::min(epoch_samples_, batches_per_epoch_ * size);
  }
  require(options.begin.position <= epoch_samples_, "the start lies outside the epoch",
          fmt::format("a position of at most {}", epoch_samples_),
          fmt::format("{}", options.begin.position));
  if (options.whole_batches) {
    require(options.rank < batches_per_epoch_, "there are fewer batches than ranks",
            fmt::format("at most {} ranks", batches_per_epoch_), fmt::format("{}", options.ranks));
    batches_per_epoch_ = (batches_per_epoch_ - options.rank + options.ranks - 1) / options.ranks;
  }
  number_batches();
  const std::uint64_t largest = std::min<std::uint64_t>(size, epoch_samples_);
  if (options.whole_batches) {
    capacity_ = static_cast<std::uint32_t>(largest);
  } else if (largest <= options.rank) {
    capacity_ = 1;  // only ever empty batches
  } else {
    capacity_ =
        static_cast<std::uint32_t>((largest - options.rank + options.ranks - 1) / options.ranks);
  }
}

void BatchPlan::plan_passes() {
  const std::uint64_t size = options_.batch_size, full = options_.samples / size;
  require(full > 0, "the data has too few samples for batches of different ones",
          fmt::format("at least {} samples, the batch size", size),
          fmt::format("{}", options_.samples));
  batches_per_epoch_ = options_.batches_per_epoch;
  require(batches_per_epoch_ <= kMaxSamples / size, "an epoch has too many batches",
          fmt::format("at most {} batches of {}", kMaxSamples / size, size),
          fmt::format("{}", batches_per_epoch_));
  epoch_samples_ = batches_per_epoch_ * size;
  pass_samples_ = full * size;
  passes_ = (batches_per_epoch_ + full - 1) / full;
  constexpr std::uint64_t kMaxPasses = std::uint64_t{1} << 32;  // orders are numbered by 32 bits
  const std::uint64_t epochs = std::max(options_.end_epoch, options_.begin.epoch);
  require(epochs <= kMaxPasses / passes_, "the run has too many passes over the data",
          fmt::format("at most {} epochs of {} passes", kMaxPasses / passes_, passes_),
          fmt::format("{}", epochs));
}

void BatchPlan::number_batches() {
  // One epoch more than asked for, so that the end of the last one has a number too.
  std::uint64_t end = 0;
  const std::uint64_t epochs =
      std::uint64_t{std::max(options_.end_epoch, options_.begin.epoch)} + 1;
  require(!__builtin_mul_overflow(batches_per_epoch_, epochs, &end), "the run has too many batches",
          "at most 2^64 over all epochs",
          fmt::format("{} epochs of {}", epochs, batches_per_epoch_));
  end_batch_ = batches_per_epoch_ * options_.end_epoch;
  // The end of an epoch is the start of the next.
  first_batch_ = options_.begin.position == epoch_samples_
                     ? batches_per_epoch_ * (options_.begin.epoch + std::uint64_t{1})
                     : batches_per_epoch_ * options_.begin.epoch +
                           options_.begin.position / options_.batch_size;
  first_batch_ = std::min(first_batch_, end_batch_);
}

BatchPlan::Share BatchPlan::placed(std::uint64_t epoch, std::uint64_t position,
                                   std::uint64_t count) const noexcept {
  Share share{.epoch = static_cast<std::uint32_t>(epoch),
              .first_position = position,
              .count = static_cast<std::uint32_t>(count),
              .step = step()};
  if (passes_ == 1) return share;
  share.epoch = static_cast<std::uint32_t>(epoch * passes_ + position / pass_samples_);
  share.first_position = position % pass_samples_;
  return share;
}

Cursor BatchPlan::cursor_of(std::uint32_t share_epoch, std::uint64_t position) const noexcept {
  return {.epoch = static_cast<std::uint32_t>(share_epoch / passes_),
          .position = position + share_epoch % passes_ * pass_samples_};
}

BatchPlan::Share BatchPlan::whole_batch(std::uint64_t batch) const noexcept {
  const std::uint64_t global = batch % batches_per_epoch_ * options_.ranks + options_.rank;
  const std::uint64_t start = global * options_.batch_size;
  return placed(batch / batches_per_epoch_, start,
                std::min<std::uint64_t>(options_.batch_size, epoch_samples_ - start));
}

std::uint32_t BatchPlan::batch_samples(std::uint64_t batch) const noexcept {
  const std::uint64_t start = batch % batches_per_epoch_ * options_.batch_size;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(options_.batch_size, epoch_samples_ - start));
}

BatchPlan::Share BatchPlan::share(std::uint64_t batch) const noexcept {
  if (options_.whole_batches) return whole_batch(batch);
  const std::uint64_t ranks = options_.ranks;
  const std::uint64_t start = batch % batches_per_epoch_ * options_.batch_size;
  const std::uint64_t end = std::min(start + options_.batch_size, epoch_samples_);
  std::uint64_t first = start + options_.rank;
  if (batch == first_batch_ && options_.begin.position > first && options_.begin.position < end) {
    // A start inside this batch: the first of our places at or after it.
    first += (options_.begin.position - first + ranks - 1) / ranks * ranks;
  }
  const std::uint64_t count = first < end ? (end - first + ranks - 1) / ranks : 0;
  return placed(batch / batches_per_epoch_, first, count);
}

Cursor BatchPlan::cursor_before(std::uint64_t batch) const noexcept {
  return {.epoch = static_cast<std::uint32_t>(batch / batches_per_epoch_),
          .position = batch % batches_per_epoch_ * options_.batch_size};
}

}  // namespace stoker
