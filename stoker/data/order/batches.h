// The two ways to cut a dataset into batches.
//   create_batches: all samples in their order; the last batch takes what is left, none is lost.
//   random_batches: a chosen number of batches an epoch, drawn without repetition.
// Pure functions, safe from any thread. Neither copies samples: the first gives views, the second
// indices; memory is that of the list they return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace stoker {

// Samples one after another, each of values_per_sample values; owned elsewhere.
template <class T>
struct SampleMatrix {
  std::span<const T> values;
  std::size_t values_per_sample = 1;
};
template <class Range>
SampleMatrix(Range&&, std::size_t) -> SampleMatrix<std::ranges::range_value_t<Range>>;

// A batch: labels[i] belongs to the i-th run of values_per_sample values.
template <class T, class Label>
struct BatchView {
  SampleMatrix<T> data;
  std::span<const Label> labels;
};

// Samples [begin, begin + size) of a dataset.
struct BatchRange {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
};

// [0, samples) in runs of batch_size, the last one with the remainder; no samples, no batches.
// Throws Error for batch_size 0.
[[nodiscard]] std::vector<BatchRange> batch_ranges(std::uint64_t samples, std::uint64_t batch_size);

namespace detail {
// Throws Error unless `values` values are exactly one sample for each label.
void check_batch_inputs(std::size_t values, std::size_t values_per_sample, std::size_t labels);
}  // namespace detail

// create_batches(SampleMatrix{pixels, 784}, labels, 128). The views last as long as the data does,
// so a temporary vector of labels does not compile. Throws Error for batch_size 0 and for data and
// labels of different lengths.
template <class T, std::ranges::contiguous_range Labels>
requires std::ranges::borrowed_range<Labels>
[[nodiscard]] auto create_batches(SampleMatrix<T> data, Labels&& labels, std::size_t batch_size) {
  using Label = std::remove_cv_t<std::ranges::range_value_t<Labels>>;
  const std::span<const Label> all_labels(std::ranges::data(labels), std::ranges::size(labels));
  detail::check_batch_inputs(data.values.size(), data.values_per_sample, all_labels.size());
  std::vector<BatchView<T, Label>> batches;
  for (const auto& [begin, size] : batch_ranges(all_labels.size(), batch_size)) {
    const std::size_t width = data.values_per_sample;
    batches.push_back({{data.values.subspan(begin * width, size * width), width},
                       all_labels.subspan(begin, size)});
  }
  return batches;
}

struct RandomBatches {
  std::uint64_t samples = 0;            // in the dataset; indices are in [0, samples)
  std::uint64_t batch_size = 0;         // of every batch: none is smaller
  std::uint64_t number_of_batches = 0;  // an epoch
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
};

// The sample indices of each batch of an epoch. The batches are the first places of
// Permutation(samples, seed, epoch), so no sample comes twice. Where an epoch needs more samples
// than there are, it takes k passes over the data, and epoch e uses the permutations
// e * k … e * k + k - 1. A pass gives f = floor(samples / batch_size) batches, so k is
// ceil(number_of_batches / f): no sample comes twice inside a batch or a pass, and no two epochs
// share a pass. (A batch larger than the data must repeat samples: it takes several passes.) These
// are the batches that the feed gives (pipeline/plan.h). Throws Error for a count of 0, and where
// the number of indices or passes is out of range.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> random_batches(const RandomBatches& options);

}  // namespace stoker
