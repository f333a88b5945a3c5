// Counters of a server, as Prometheus reads them. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "stoker/predict.h"

namespace stoker {

class ServeMetrics {
 public:
  // `route`: one of few names, never a text of the client.
  void add(const char* route, unsigned status, double seconds);
  // In Prometheus' text format, with what the classifier counts.
  [[nodiscard]] std::string text(const ClassifierStats& classifier, bool ready) const;

 private:
  static constexpr std::array<double, 10> kBounds = {0.005, 0.01, 0.025, 0.05, 0.1,
                                                     0.25,  0.5,  1,     2.5,  10};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, unsigned>, std::uint64_t> responses_;
  std::array<std::uint64_t, kBounds.size() + 1> buckets_{};  // the last: all others
  double seconds_ = 0;
};

}  // namespace stoker
