// Data whose classes have very different numbers of samples: how many each has, weights that make
// up for it in the loss, and a source in which all classes have the same number.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stoker/core/permutation.h"
#include "stoker/data/sources/source_view.h"

namespace stoker {

// The samples of each class, in order. Reads every label: 8 bytes a sample, no pixels where the
// source knows labels without them. Throws Error where a sample has no class, or several.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> samples_by_class(const Source& source);

// samples / (classes * samples of the class): their mean over the samples is 1. A class without
// samples gets 0.
[[nodiscard]] std::vector<double> balancing_weights(
    const std::vector<std::vector<std::uint64_t>>& by_class);

// Every class as often as the largest one: the samples of smaller classes come again, in an order
// drawn from the seed, each as often as any other of its class, give or take one. Augmentation
// differs between the copies, because each is a sample of its own.
class Balanced final : public SourceView {
 public:
  // Throws Error where a class has no samples.
  Balanced(std::shared_ptr<const Source> source, std::uint64_t seed);

  [[nodiscard]] std::uint64_t size() const override { return by_class_.size() * largest_; }
  [[nodiscard]] std::uint64_t original(std::uint64_t index) const noexcept override;

 private:
  std::vector<std::vector<std::uint64_t>> by_class_;
  std::vector<Permutation> orders_;  // of each class's samples
  std::uint64_t largest_ = 0;
};

}  // namespace stoker
