// For the libraries behind gpu.h: medians of times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace stoker::cuda::detail {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Milliseconds of a call by the host's clock, the median of `rounds`.
template <class Call>
double host_milliseconds(int rounds, const Call& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < std::max(rounds, 1); ++i) {
    const auto begin = Clock::now();
    call();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return median(std::move(times));
}

}  // namespace stoker::cuda::detail
