#include "stoker/data/sources/balance.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// No epoch of a run: the order of copies has nothing to do with the order of samples in an epoch.
constexpr std::uint32_t kFirstOrder = std::numeric_limits<std::uint32_t>::max() / 2;

[[noreturn]] void fail_no_classes(const Source& source) {
  const bool several = find_field(source.fields(), kClassesField) != nullptr;
  const bool numbers = find_field(source.fields(), kTargetField) != nullptr;
  throw Error({.what = "classes can be balanced where every image has one class",
               .expected = "data with one class for each image",
               .found = several   ? "images with several classes"
                        : numbers ? "images with numbers to predict"
                                  : "images without classes",
               .hint = "Remove `sampler` balanced and `class_weights` balanced."});
}

}  // namespace

std::vector<std::vector<std::uint64_t>> samples_by_class(const Source& source) {
  if (source.class_names().empty()) fail_no_classes(source);
  std::vector<std::vector<std::uint64_t>> by_class(source.class_names().size());
  SampleBuffer buffer;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    auto label = source.label(i, buffer);
    const std::int64_t number = label.value();
    if (number < 0 || static_cast<std::size_t>(number) >= by_class.size()) {
      throw Error({.what = "a sample has no class, so classes cannot be balanced",
                   .path = source.sample_name(i),
                   .expected = fmt::format("a class below {}", by_class.size()),
                   .found = fmt::format("{}", number)});
    }
    by_class[static_cast<std::size_t>(number)].push_back(i);
  }
  return by_class;
}

std::vector<double> balancing_weights(const std::vector<std::vector<std::uint64_t>>& by_class) {
  std::size_t samples = 0;
  for (const auto& members : by_class) samples += members.size();
  std::vector<double> weights;
  for (const auto& members : by_class) {
    weights.push_back(members.empty() ? 0
                                      : static_cast<double>(samples) /
                                            static_cast<double>(by_class.size() * members.size()));
  }
  return weights;
}

Balanced::Balanced(std::shared_ptr<const Source> source, std::uint64_t seed)
    : SourceView(std::move(source)), by_class_(samples_by_class(this->source())) {
  for (std::size_t c = 0; c < by_class_.size(); ++c) {
    if (by_class_[c].empty()) {
      throw Error({.what = "a class has no samples, so classes cannot be balanced",
                   .expected = "at least one image of every class",
                   .found = fmt::format("none of {}", this->source().class_names()[c])});
    }
    orders_.emplace_back(by_class_[c].size(), seed, kFirstOrder + static_cast<std::uint32_t>(c));
    largest_ = std::max(largest_, static_cast<std::uint64_t>(by_class_[c].size()));
  }
}

std::uint64_t Balanced::original(std::uint64_t index) const noexcept {
  const std::uint64_t c = index % by_class_.size(), copy = index / by_class_.size();
  return by_class_[c][orders_[c][copy % by_class_[c].size()]];
}

}  // namespace stoker
