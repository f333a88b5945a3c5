#include "stoker/run/target_table.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/io/safetensors.h"
#include "stoker/run/prediction_tensors.h"

namespace stoker {

void TargetTable::add(std::span<const float> targets, std::span<const float> predictions,
                      float sample_loss) {
  outputs = targets.size();
  target.insert(target.end(), targets.begin(), targets.end());
  prediction.insert(prediction.end(), predictions.begin(), predictions.end());
  loss.push_back(sample_loss);
}

void TargetTable::add_skipped(std::size_t sample_outputs) {
  outputs = sample_outputs;
  target.resize(target.size() + outputs);
  prediction.resize(prediction.size() + outputs);
  loss.push_back(std::numeric_limits<float>::quiet_NaN());
}

bool TargetTable::is_skipped(std::size_t i) const { return std::isnan(loss[i]); }

void write_target_table(const std::filesystem::path& path, const TargetTable& table) {
  const std::vector<TensorView> tensors = {row_view("target", DType::kF32, table.target),
                                           row_view("prediction", DType::kF32, table.prediction),
                                           row_view("loss", DType::kF32, table.loss),
                                           row_view("thresholds", DType::kF64, table.thresholds)};
  write_safetensors(path, tensors, {{"epoch", std::to_string(table.epoch)}}, "run's predictions");
}

TargetTable read_target_table(const std::filesystem::path& path, std::size_t outputs) {
  const SafetensorsFile file(path);
  TargetTable table{.epoch = epoch_in(file, path),
                    .outputs = outputs,
                    .target = row_values<float>(file, path, "target", DType::kF32),
                    .prediction = row_values<float>(file, path, "prediction", DType::kF32),
                    .loss = row_values<float>(file, path, "loss", DType::kF32),
                    .thresholds = row_values<double>(file, path, "thresholds", DType::kF64)};
  for (const std::size_t size : {table.target.size(), table.prediction.size()}) {
    if (size == table.size() * outputs) continue;
    refuse_predictions(path, fmt::format("{} values in each tensor", table.size() * outputs),
                       fmt::format("{}", size));
  }
  if (!table.thresholds.empty() && table.thresholds.size() != outputs) {
    refuse_predictions(path, fmt::format("{} thresholds", outputs),
                       fmt::format("{}", table.thresholds.size()));
  }
  return table;
}

}  // namespace stoker
