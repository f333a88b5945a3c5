#include "stoker/serve/serve_metrics.h"

#include <algorithm>

#include <fmt/format.h>

namespace stoker {
namespace {

std::string metric(const char* name, const char* type, const char* help, double value) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
}

}  // namespace

void ServeMetrics::add(const char* route, unsigned status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++responses_[{route, status}];
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  ++buckets_[static_cast<std::size_t>(bound - kBounds.begin())];
  seconds_ += seconds;
}

std::string ServeMetrics::text(const ClassifierStats& classifier, bool ready) const {
  const std::lock_guard lock(mutex_);
  std::string text =
      "# HELP stoker_responses_total Responses by route and status.\n"
      "# TYPE stoker_responses_total counter\n";
  for (const auto& [key, count] : responses_) {
    text += fmt::format("stoker_responses_total{{route=\"{}\",code=\"{}\"}} {}\n", key.first,
                        key.second, count);
  }
  text +=
      "# HELP stoker_request_seconds Time from a request's headers to its response.\n"
      "# TYPE stoker_request_seconds histogram\n";
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    sum += buckets_[i];
    const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    text += fmt::format("stoker_request_seconds_bucket{{le=\"{}\"}} {}\n", bound, sum);
  }
  text += fmt::format("stoker_request_seconds_sum {}\nstoker_request_seconds_count {}\n", seconds_,
                      sum);
  const auto number = [](auto value) { return static_cast<double>(value); };
  text += metric("stoker_images_total", "counter", "Images that were classified.",
                 number(classifier.images));
  text += metric("stoker_bad_images_total", "counter", "Images that could not be used.",
                 number(classifier.bad_images));
  text += metric("stoker_batches_total", "counter", "Batches that the network computed.",
                 number(classifier.batches));
  text += metric("stoker_late_total", "counter", "Images whose deadline passed.",
                 number(classifier.late));
  text += metric("stoker_waiting_images", "gauge", "Images that are decoded, wait or are computed.",
                 number(classifier.callers));
  text += metric("stoker_ready", "gauge", "1 while new requests are welcome.", ready ? 1 : 0);
  return text;
}

}  // namespace stoker
