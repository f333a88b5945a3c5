#include "stoker/train/detail/class_figures.h"

namespace stoker::detail {

double fraction_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? kNotDefined : static_cast<double>(part) / static_cast<double>(whole);
}

ClassMetrics class_figures(std::int64_t support, std::int64_t predicted, std::int64_t right) {
  if (support == 0 && predicted == 0) return {0, 0, kNotDefined, kNotDefined, kNotDefined};
  const auto or_zero = [&](std::int64_t whole) {
    return whole == 0 ? 0 : fraction_of(right, whole);
  };
  return {.support = support,
          .predicted = predicted,
          .precision = or_zero(predicted),
          .recall = or_zero(support),
          // 2 p r / (p + r) with everything multiplied out: never 0 / 0 here.
          .f1 = fraction_of(2 * right, support + predicted)};
}

void add_macro_means(MetricsResult& result) {
  result.macro_precision = mean_of_defined(result.classes, &ClassMetrics::precision);
  result.macro_recall = mean_of_defined(result.classes, &ClassMetrics::recall);
  result.macro_f1 = mean_of_defined(result.classes, &ClassMetrics::f1);
}

}  // namespace stoker::detail
