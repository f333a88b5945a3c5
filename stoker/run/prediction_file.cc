#include "stoker/run/prediction_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/io/safetensors.h"
#include "stoker/run/prediction_tensors.h"

namespace stoker {
namespace {

void check_classes(const std::filesystem::path& path, const std::vector<std::int32_t>& values,
                   std::int32_t least, std::size_t classes) {
  for (const std::int32_t value : values) {
    if (value < least || (value >= 0 && static_cast<std::size_t>(value) >= classes)) {
      refuse_predictions(path, fmt::format("classes below {}", classes), fmt::format("{}", value));
    }
  }
}

// The first `count` samples, without skipped ones, in the order of `key`, of equals the first.
template <typename Key>
std::vector<std::size_t> least(const PredictionTable& table, std::size_t count, const Key& key) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!table.is_skipped(i)) order.push_back(i);
  }
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  order.erase(end, order.end());
  return order;
}

}  // namespace

void PredictionTable::add(std::int64_t true_class, std::span<const float> probabilities,
                          float sample_loss) {
  std::size_t best = 0, next = 0;
  for (std::size_t c = 1; c < probabilities.size(); ++c) {
    if (probabilities[c] > probabilities[best]) {
      next = best;
      best = c;
    } else if (next == best || probabilities[c] > probabilities[next]) {
      next = c;
    }
  }
  label.push_back(static_cast<std::int32_t>(true_class));
  first.push_back(static_cast<std::int32_t>(best));
  second.push_back(static_cast<std::int32_t>(next));
  first_share.push_back(probabilities[best]);
  second_share.push_back(next == best ? 0 : probabilities[next]);
  loss.push_back(sample_loss);
}

void PredictionTable::add_skipped() {
  label.push_back(-1);
  first.push_back(0);
  second.push_back(0);
  first_share.push_back(0);
  second_share.push_back(0);
  loss.push_back(0);
}

void write_predictions(const std::filesystem::path& path, const PredictionTable& table) {
  const std::vector<TensorView> tensors = {
      row_view("label", DType::kI32, table.label),
      row_view("first", DType::kI32, table.first),
      row_view("second", DType::kI32, table.second),
      row_view("first_share", DType::kF32, table.first_share),
      row_view("second_share", DType::kF32, table.second_share),
      row_view("loss", DType::kF32, table.loss)};
  write_safetensors(path, tensors, {{"epoch", std::to_string(table.epoch)}}, "run's predictions");
}

PredictionTable read_predictions(const std::filesystem::path& path, std::size_t classes) {
  const SafetensorsFile file(path);
  PredictionTable table{.epoch = epoch_in(file, path),
                        .label = row_values<std::int32_t>(file, path, "label", DType::kI32),
                        .first = row_values<std::int32_t>(file, path, "first", DType::kI32),
                        .second = row_values<std::int32_t>(file, path, "second", DType::kI32),
                        .first_share = row_values<float>(file, path, "first_share", DType::kF32),
                        .second_share = row_values<float>(file, path, "second_share", DType::kF32),
                        .loss = row_values<float>(file, path, "loss", DType::kF32)};
  for (const std::size_t size : {table.first.size(), table.second.size(), table.first_share.size(),
                                 table.second_share.size(), table.loss.size()}) {
    if (size == table.size()) continue;
    refuse_predictions(path, fmt::format("{} values in each tensor", table.size()),
                       fmt::format("{}", size));
  }
  check_classes(path, table.label, -1, classes);
  check_classes(path, table.first, 0, classes);
  check_classes(path, table.second, 0, classes);
  return table;
}

std::vector<std::size_t> top_losses(const PredictionTable& table, std::size_t count) {
  // NaN has no place in an order; it is the worst loss there is.
  return least(table, count, [&](std::size_t i) {
    return std::isnan(table.loss[i]) ? -HUGE_VALF : -table.loss[i];
  });
}

std::vector<std::size_t> most_doubtful(const PredictionTable& table, std::size_t count) {
  return least(table, count, [&](std::size_t i) {
    const float gap = table.first_share[i] - table.second_share[i];
    return std::isnan(gap) ? HUGE_VALF : gap;
  });
}

}  // namespace stoker
