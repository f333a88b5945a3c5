// A random part of a source, chosen by a seed: n samples, always the same ones. For quick tries,
// and to see how little data a recipe needs. Costs no memory per sample.
#pragma once

#include <memory>

#include "stoker/core/permutation.h"
#include "stoker/data/source.h"

namespace stoker {

class Subset final : public Source {
 public:
  // 1 <= samples <= source->size(), else Error.
  Subset(std::shared_ptr<const Source> source, std::uint64_t samples, std::uint64_t seed);

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] ImageShape shape() const override { return source_->shape(); }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return source_->class_names();
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return source_->sample_name(order_[index]);
  }
  void prefetch(std::uint64_t index) const noexcept override { source_->prefetch(order_[index]); }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    return source_->read(order_[index], buffer);
  }

 private:
  std::shared_ptr<const Source> source_;
  std::uint64_t size_;
  Permutation order_;
};

}  // namespace stoker
