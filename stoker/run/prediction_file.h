// What a model said of every validation sample, as `predictions.safetensors` of a run's folder: one
// number a sample for each of six tensors, so 24 bytes. Plain values; reading checks everything,
// since a run may come from another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace stoker {

// All of the same length, in the order of the validation data.
struct PredictionTable {
  std::uint32_t epoch = 0;                // counted from 0, after which they were made
  std::vector<std::int32_t> label = {};   // -1: without a class, or skipped
  std::vector<std::int32_t> first = {};   // the most probable class
  std::vector<std::int32_t> second = {};  // the one after it; the same where there is one class
  std::vector<float> first_share = {};    // probability of `first`
  std::vector<float> second_share = {};   // of `second`
  std::vector<float> loss = {};           // cross entropy

  [[nodiscard]] std::size_t size() const noexcept { return label.size(); }
  // One more sample, with the probability of every class.
  void add(std::int64_t true_class, std::span<const float> probabilities, float sample_loss);
  // One more sample, which could not be read: without a label, all numbers 0.
  void add_skipped();
  // A class that is the most probable one has a probability above 0.
  [[nodiscard]] bool is_skipped(std::size_t i) const { return label[i] < 0 && first_share[i] == 0; }
};

void write_predictions(const std::filesystem::path& path, const PredictionTable& table);
// Throws Error where the file is not what write_predictions() writes, or a class is not below
// `classes`.
[[nodiscard]] PredictionTable read_predictions(const std::filesystem::path& path,
                                               std::size_t classes);

// Samples of the greatest loss, the greatest first, at most `count`; of equals the first. Skipped
// samples are in neither list.
[[nodiscard]] std::vector<std::size_t> top_losses(const PredictionTable& table, std::size_t count);
// Samples whose two most probable classes are closest, the closest first.
[[nodiscard]] std::vector<std::size_t> most_doubtful(const PredictionTable& table,
                                                     std::size_t count);

}  // namespace stoker
