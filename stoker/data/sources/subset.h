// A random part of a source, chosen by a seed: n samples, always the same ones. For quick tries,
// and to see how little data a recipe needs. Costs no memory per sample.
#pragma once

#include <memory>

#include "stoker/core/permutation.h"
#include "stoker/data/sources/source_view.h"

namespace stoker {

class Subset final : public SourceView {
 public:
  // 1 <= samples <= source->size(), else Error.
  Subset(std::shared_ptr<const Source> source, std::uint64_t samples, std::uint64_t seed);

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] std::uint64_t original(std::uint64_t index) const noexcept override {
    return order_[index];
  }

 private:
  std::uint64_t size_;
  Permutation order_;
};

}  // namespace stoker
