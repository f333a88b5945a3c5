// A source that shows samples of another one in another order, or some of them, or some more than
// once. What is derived says which.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stoker/data/sources/source.h"

namespace stoker {

class SourceView : public Source {
 public:
  explicit SourceView(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  [[nodiscard]] const Source& source() const noexcept { return *source_; }
  // The sample of the other source that stands here.
  [[nodiscard]] virtual std::uint64_t original(std::uint64_t index) const noexcept = 0;

  [[nodiscard]] ImageShape shape() const final { return source_->shape(); }
  [[nodiscard]] int channels() const final { return source_->channels(); }
  [[nodiscard]] int depth() const final { return source_->depth(); }
  [[nodiscard]] const std::vector<std::string>& class_names() const final {
    return source_->class_names();
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const final {
    return source_->sample_name(original(index));
  }
  void prefetch(std::uint64_t index) const noexcept final { source_->prefetch(original(index)); }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const final {
    return source_->read(original(index), buffer);
  }
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index, SampleBuffer& buffer) const final {
    return source_->label(original(index), buffer);
  }
  [[nodiscard]] std::span<const FieldInfo> fields() const final { return source_->fields(); }
  [[nodiscard]] Result<std::size_t> read_fields(std::uint64_t index,
                                                std::span<float> out) const final {
    return source_->read_fields(original(index), out);
  }
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t index, const FrameRequest& request,
                                           SampleBuffer& buffer) const final {
    return source_->read_framed(original(index), request, buffer);
  }
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const final {
    return source_->read_bytes(original(index), room);
  }
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const final {
    return source_->decode(original(index), bytes, request, buffer);
  }

 private:
  std::shared_ptr<const Source> source_;
};

}  // namespace stoker
