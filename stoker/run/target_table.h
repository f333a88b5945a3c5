// What a model of several labels or numbers said of every validation sample, as
// `predictions.safetensors` of a run's folder: 8 bytes for each output of a sample. Plain values;
// reading checks everything, since a run may come from another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace stoker {

// Rows in the order of the validation data.
struct TargetTable {
  std::uint32_t epoch = 0;  // counted from 0, after which they were made
  std::size_t outputs = 0;
  std::vector<float> target = {};       // samples x outputs: 0 or 1, or numbers
  std::vector<float> prediction = {};   // samples x outputs: probabilities, or numbers
  std::vector<float> loss = {};         // of each sample; NaN: it could not be read
  std::vector<double> thresholds = {};  // of several labels, one for each

  [[nodiscard]] std::size_t size() const noexcept { return loss.size(); }
  void add(std::span<const float> targets, std::span<const float> predictions, float sample_loss);
  void add_skipped(std::size_t sample_outputs);
  [[nodiscard]] bool is_skipped(std::size_t i) const;
};

void write_target_table(const std::filesystem::path& path, const TargetTable& table);
// Throws Error where the file is not what write_target_table() writes for this number of outputs.
[[nodiscard]] TargetTable read_target_table(const std::filesystem::path& path, std::size_t outputs);

}  // namespace stoker
