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
  [[nodiscard]] int channels() const override { return source_->channels(); }
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
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index,
                                           SampleBuffer& buffer) const override {
    return source_->label(order_[index], buffer);
  }
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t index, const FrameRequest& request,
                                           SampleBuffer& buffer) const override {
    return source_->read_framed(order_[index], request, buffer);
  }
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override {
    return source_->read_bytes(order_[index], room);
  }
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override {
    return source_->decode(order_[index], bytes, request, buffer);
  }

 private:
  std::shared_ptr<const Source> source_;
  std::uint64_t size_;
  Permutation order_;
};

}  // namespace stoker
