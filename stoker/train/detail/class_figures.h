// What the metrics of classes and of several labels have in common.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "stoker/core/metrics_result.h"

namespace stoker::detail {

// NaN without a whole, which is what an average of nothing is.
[[nodiscard]] double fraction_of(std::int64_t part, std::int64_t whole);

// Of one class: its samples, those taken for it, and those of them that belong to it.
[[nodiscard]] ClassMetrics class_figures(std::int64_t support, std::int64_t predicted,
                                         std::int64_t right);

// The mean over the elements whose value is not NaN; NaN where there is none.
template <typename Figures>
[[nodiscard]] double mean_of_defined(const std::vector<Figures>& all, double Figures::*value) {
  double sum = 0;
  std::int64_t count = 0;
  for (const Figures& one : all) {
    if (std::isnan(one.*value)) continue;
    sum += one.*value;
    ++count;
  }
  return count == 0 ? kNotDefined : sum / static_cast<double>(count);
}

// The result's macro_* from its classes.
void add_macro_means(MetricsResult& result);

}  // namespace stoker::detail
