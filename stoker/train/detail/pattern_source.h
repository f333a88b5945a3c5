// Images that a network learns in seconds, made from their index: stripes along one axis or the
// other, squares, or an even area, each with a place, a size and noise of its own. For
// device_check.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/rng.h"
#include "stoker/data/sources/source.h"

namespace stoker::detail {

class PatternSource final : public Source {
 public:
  // Samples [first, first + size) of an endless series.
  PatternSource(std::uint64_t first, std::uint64_t size) : first_(first), size_(size) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] ImageShape shape() const override {
    return {.height = 32, .width = 32, .channels = 3};
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return classes_; }
  [[nodiscard]] std::string sample_name(std::uint64_t index) const override {
    return fmt::format("pattern {}", first_ + index);
  }
  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    const std::uint64_t number = first_ + index;
    const std::uint64_t kind = number % classes_.size();
    Rng rng({.seed = 17, .sample = number}, 0);
    const std::uint32_t period = 4 + rng.uniform_int(5), dx = rng.uniform_int(8);
    const std::uint32_t dy = rng.uniform_int(8);
    buffer.decoded.reshape(shape());
    std::uint8_t* byte = buffer.decoded.view().data;
    for (std::uint32_t y = 0; y < 32; ++y) {
      for (std::uint32_t x = 0; x < 32; ++x) {
        const std::uint32_t row = (y + dy) / period % 2, column = (x + dx) / period % 2;
        const std::uint32_t bright[] = {row, column, row ^ column, 1};
        for (int channel = 0; channel < 3; ++channel) {
          *byte++ = static_cast<std::uint8_t>(100 * bright[kind] + rng.uniform_int(120));
        }
      }
    }
    return Sample{.image = std::as_const(buffer.decoded).view(),
                  .label = static_cast<std::int64_t>(kind)};
  }

 private:
  std::uint64_t first_, size_;
  std::vector<std::string> classes_ = {"rows", "columns", "squares", "even"};
};

}  // namespace stoker::detail
