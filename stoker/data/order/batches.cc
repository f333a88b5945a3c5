#include "stoker/data/order/batches.h"

#include <algorithm>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/permutation.h"
#include "stoker/data/order/sampler.h"

namespace stoker {
namespace {

void check_at_least_one(const char* name, std::uint64_t value) {
  if (value >= 1) return;
  throw Error({.what = "cannot make batches",
               .expected = fmt::format("a {} of at least 1", name),
               .found = "0"});
}

// The indices that all batches of an epoch take together.
std::uint64_t total_indices(const RandomBatches& options) {
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(options.batch_size, options.number_of_batches, &total) ||
      total > Permutation::kMaxSize) {
    throw Error(
        {.what = "cannot make batches",
         .expected = fmt::format("at most {} samples an epoch", Permutation::kMaxSize),
         .found = fmt::format("{} batches of {}", options.number_of_batches, options.batch_size),
         .hint = "Ask for fewer or smaller batches."});
  }
  return total;
}

// The pass with which the epoch begins.
std::uint32_t first_pass(const RandomBatches& options, std::uint64_t passes_per_epoch) {
  constexpr std::uint64_t kMaxPasses = std::uint64_t{1} << 32;  // a permutation's epoch has 32 bits
  // Without overflow: passes <= 2^48 and the epoch is below 2^32, so the check divides.
  if (options.epoch >= kMaxPasses / passes_per_epoch) {
    throw Error({.what = "cannot make batches",
                 .expected = fmt::format("an epoch below {} at {} passes over the data each",
                                         kMaxPasses / passes_per_epoch, passes_per_epoch),
                 .found = fmt::format("epoch {}", options.epoch),
                 .hint = "Ask for fewer or smaller batches."});
  }
  return static_cast<std::uint32_t>(options.epoch * passes_per_epoch);
}

}  // namespace

std::vector<BatchRange> batch_ranges(std::uint64_t samples, std::uint64_t batch_size) {
  check_at_least_one("batch size", batch_size);
  std::vector<BatchRange> ranges;
  // Counts what is left rather than adding up: begin + batch_size could overflow.
  for (std::uint64_t left = samples; left > 0;) {
    const std::uint64_t size = std::min(left, batch_size);
    ranges.push_back({.begin = samples - left, .size = size});
    left -= size;
  }
  return ranges;
}

namespace detail {

void check_batch_inputs(std::size_t values, std::size_t values_per_sample, std::size_t labels) {
  check_at_least_one("number of values per sample", values_per_sample);
  if (values % values_per_sample == 0 && values / values_per_sample == labels) return;
  throw Error({.what = "data and labels do not belong together",
               .expected = fmt::format("{} samples of {} values, one for each label", labels,
                                       values_per_sample),
               .found = fmt::format("{} values, which are {} samples and {} values", values,
                                    values / values_per_sample, values % values_per_sample)});
}

}  // namespace detail

std::vector<std::vector<std::uint64_t>> random_batches(const RandomBatches& options) {
  check_at_least_one("number of samples", options.samples);
  check_at_least_one("batch size", options.batch_size);
  check_at_least_one("number of batches", options.number_of_batches);
  const std::uint64_t total = total_indices(options);
  const std::uint64_t whole = options.samples / options.batch_size * options.batch_size;
  const std::uint64_t pass_samples = whole > 0 ? whole : options.samples;
  const std::uint64_t passes = (total - 1) / pass_samples + 1;
  const std::uint32_t first = first_pass(options, passes);
  EpochOrder::Reader order = EpochOrder(options.samples, options.seed, /*shuffle=*/true).reader();
  std::vector<std::vector<std::uint64_t>> batches(options.number_of_batches);
  std::uint64_t place = 0;
  for (auto& batch : batches) {
    batch.resize(options.batch_size);
    for (auto& index : batch) {
      const auto pass = static_cast<std::uint32_t>(first + place / pass_samples);
      index = order.sample_at(pass, place % pass_samples);
      ++place;
    }
  }
  return batches;
}

}  // namespace stoker
