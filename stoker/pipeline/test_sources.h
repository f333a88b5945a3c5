// Sources for the tests of this module.
#pragma once

#include <stdexcept>

#include <fmt/format.h>

#include "stoker/core/rng.h"
#include "stoker/data/sources/source.h"

namespace stoker::test {

// Images made up from their index; chosen ones cannot be read, or throw.
class MadeUpSource final : public Source {
 public:
  explicit MadeUpSource(std::uint64_t size, ImageShape shape = {.height = 9, .width = 20})
      : size_(size), shape_(shape), classes_({"even", "odd"}) {}

  std::uint64_t unreadable = ~std::uint64_t{0};
  std::uint64_t throws = ~std::uint64_t{0};

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] ImageShape shape() const override { return shape_; }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return classes_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return fmt::format("made-up#{}", index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    if (index == unreadable) return ErrorDetails{.what = "damaged on purpose"};
    if (index == throws) throw std::runtime_error("thrown on purpose");
    buffer.decoded.reshape(shape_);
    Rng rng({.seed = 99, .sample = index}, 0);
    for (std::size_t i = 0; i < shape_.bytes(); ++i) {
      buffer.decoded.view().data[i] = static_cast<std::uint8_t>(rng.next_u32());
    }
    return Sample{.image = std::as_const(buffer.decoded).view(),
                  .label = static_cast<std::int64_t>(index % 2)};
  }

 private:
  std::uint64_t size_;
  ImageShape shape_;
  std::vector<std::string> classes_;
};

}  // namespace stoker::test
