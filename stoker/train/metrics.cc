#include "stoker/train/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/train/detail/class_figures.h"

namespace stoker {
namespace {

constexpr std::int64_t kMaxBins = 10'000;

std::int64_t checked(std::string_view name, std::int64_t value, std::int64_t least,
                     std::int64_t most) {
  if (value >= least && value <= most) return value;
  throw Error({.what = fmt::format("cannot measure with this number of {}", name),
               .expected = fmt::format("{} to {}", least, most),
               .found = fmt::format("{}", value)});
}

MetricsOptions checked(const MetricsOptions& options) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  return {.classes = checked("classes", options.classes, 1, kMaxClasses),
          .top_k = checked("top_k", options.top_k, 1, kAny),
          .bins = checked("bins", options.bins, 1, kMaxBins)};
}

// How many classes come before the label: the more probable ones and, among equals, earlier ones.
std::int64_t rank_of(std::span<const float> probabilities, std::size_t label) {
  const float own = probabilities[label];
  std::int64_t rank = 0;
  for (std::size_t c = 0; c < label; ++c) rank += probabilities[c] >= own ? 1 : 0;
  for (std::size_t c = label + 1; c < probabilities.size(); ++c) {
    rank += probabilities[c] > own ? 1 : 0;
  }
  return rank;
}

void add_all(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  std::ranges::transform(to, from, to.begin(), std::plus<>());
}

}  // namespace

Metrics::Metrics(const MetricsOptions& options) : options_(checked(options)) {
  const auto classes = static_cast<std::size_t>(options_.classes);
  support_.resize(classes);
  predicted_.resize(classes);
  right_of_class_.resize(classes);
  if (options_.classes <= kMaxConfusionClasses) confusion_.resize(classes * classes);
  bins_.resize(static_cast<std::size_t>(options_.bins));
}

void Metrics::add(std::span<const float> probabilities, std::span<const std::int64_t> labels,
                  double loss_sum) {
  check_batch(probabilities, labels);
  const auto classes = static_cast<std::size_t>(options_.classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    add_sample(probabilities.subspan(i * classes, classes), labels[i]);
  }
  loss_ += loss_sum;
}

void Metrics::add(std::span<const float> probabilities, std::span<const std::int64_t> labels,
                  std::span<const float> losses) {
  STOKER_INVARIANT(losses.size() == labels.size(), "{} losses, {} labels", losses.size(),
                   labels.size());
  add(probabilities, labels, std::accumulate(losses.begin(), losses.end(), 0.0));
}

void Metrics::check_batch(std::span<const float> probabilities,
                          std::span<const std::int64_t> labels) const {
  const auto classes = static_cast<std::size_t>(options_.classes);
  STOKER_INVARIANT(probabilities.size() == labels.size() * classes,
                   "{} probabilities, {} labels, {} classes", probabilities.size(), labels.size(),
                   classes);
  for (const std::int64_t label : labels) {
    if (label >= 0 && label < options_.classes) continue;
    throw Error({.what = "a sample's label is not one of the classes",
                 .expected = fmt::format("0 to {}", options_.classes - 1),
                 .found = fmt::format("{}", label),
                 .hint = "The data must have the classes that the model was made for."});
  }
}

void Metrics::add_sample(std::span<const float> probabilities, std::int64_t label) {
  const auto truth = static_cast<std::size_t>(label);
  ++samples_;
  ++support_[truth];
  if (!std::ranges::all_of(probabilities, [](float p) { return std::isfinite(p); })) {
    ++without_prediction_;
    return;
  }
  const auto best = std::ranges::max_element(probabilities);  // the first of equals
  const auto prediction = static_cast<std::size_t>(best - probabilities.begin());
  const bool right = prediction == truth;
  ++predicted_[prediction];
  if (!confusion_.empty()) ++confusion_[truth * probabilities.size() + prediction];
  right_ += right ? 1 : 0;
  right_of_class_[truth] += right ? 1 : 0;
  right_in_k_ += rank_of(probabilities, truth) < options_.top_k ? 1 : 0;
  Bin& bin = bin_of(*best);
  ++bin.samples;
  bin.right += right ? 1 : 0;
  bin.confidence += *best;
}

Metrics::Bin& Metrics::bin_of(float confidence) {
  // Logits by mistake would make the calibration error meaningless; a softmax in half precision
  // may exceed 1 a little.
  STOKER_INVARIANT(confidence >= 0 && confidence <= 1.01F, "confidence={}", confidence);
  const double place = std::ceil(confidence * static_cast<double>(options_.bins)) - 1;
  const auto last = static_cast<double>(options_.bins - 1);
  return bins_[static_cast<std::size_t>(std::clamp(place, 0.0, last))];
}

void Metrics::merge(const Metrics& other) {
  const MetricsOptions& a = options_;
  const MetricsOptions& b = other.options_;
  STOKER_INVARIANT(a.classes == b.classes && a.top_k == b.top_k && a.bins == b.bins,
                   "{} and {} classes, top {} and {}, {} and {} bins", a.classes, b.classes,
                   a.top_k, b.top_k, a.bins, b.bins);
  samples_ += other.samples_;
  without_prediction_ += other.without_prediction_;
  right_ += other.right_;
  right_in_k_ += other.right_in_k_;
  loss_ += other.loss_;
  add_all(support_, other.support_);
  add_all(predicted_, other.predicted_);
  add_all(right_of_class_, other.right_of_class_);
  add_all(confusion_, other.confusion_);
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    bins_[i].samples += other.bins_[i].samples;
    bins_[i].right += other.bins_[i].right;
    bins_[i].confidence += other.bins_[i].confidence;
  }
}

MetricsResult Metrics::result() const {
  MetricsResult result;
  result.samples = samples_;
  result.without_prediction = without_prediction_;
  result.loss = samples_ == 0 ? kNotDefined : loss_ / static_cast<double>(samples_);
  result.top1 = detail::fraction_of(right_, samples_);
  result.top_k = detail::fraction_of(right_in_k_, samples_);
  result.calibration_error = calibration_error();
  for (std::size_t i = 0; i < support_.size(); ++i) {
    result.classes.push_back(detail::class_figures(support_[i], predicted_[i], right_of_class_[i]));
  }
  detail::add_macro_means(result);
  result.confusion = confusion_;
  return result;
}

// Each bin's distance between how sure the network was and how often it was right, weighted by its
// fraction of the samples.
double Metrics::calibration_error() const {
  const std::int64_t counted = samples_ - without_prediction_;
  if (counted == 0) return kNotDefined;
  double sum = 0;
  for (const Bin& bin : bins_) sum += std::abs(bin.confidence - static_cast<double>(bin.right));
  return sum / static_cast<double>(counted);
}

}  // namespace stoker
