// Several sources one after the other, as one. They must have the same classes in the same order
// and the same number of channels. Memory: that of the parts; finding a sample's part takes a
// search in a list of sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stoker/data/sources/source.h"

namespace stoker {

class JoinedSource final : public Source {
 public:
  struct Part {
    std::string name;  // for messages
    std::shared_ptr<const Source> source;
  };
  // Throws Error where there is none, or their classes, fields or channels differ.
  explicit JoinedSource(std::vector<Part> parts);

  [[nodiscard]] std::uint64_t size() const override { return ends_.back(); }
  // Throws Error, naming both, where the parts' shapes differ.
  [[nodiscard]] ImageShape shape() const override;
  [[nodiscard]] int channels() const override { return parts_.front().source->channels(); }
  [[nodiscard]] int depth() const override { return parts_.front().source->depth(); }
  [[nodiscard]] const std::vector<std::string>& class_names() const override {
    return parts_.front().source->class_names();
  }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override;
  void prefetch(std::uint64_t index) const noexcept override;
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override;
  [[nodiscard]] Result<std::int64_t> label(std::uint64_t index,
                                           SampleBuffer& buffer) const override;
  [[nodiscard]] std::span<const FieldInfo> fields() const override {
    return parts_.front().source->fields();
  }
  [[nodiscard]] Result<std::size_t> read_fields(std::uint64_t index,
                                                std::span<float> out) const override;
  [[nodiscard]] Result<Sample> read_framed(std::uint64_t index, const FrameRequest& request,
                                           SampleBuffer& buffer) const override;
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override;
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte> bytes,
                                      const FrameRequest& request,
                                      SampleBuffer& buffer) const override;

 private:
  struct Place {
    const Source& source;
    std::uint64_t index;  // in it
  };
  [[nodiscard]] Place place_of(std::uint64_t index) const noexcept;

  std::vector<Part> parts_;
  std::vector<std::uint64_t> ends_;  // of each part, in samples of the whole
};

}  // namespace stoker
