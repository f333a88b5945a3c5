// Chosen samples of a source, in the order in which they are named. Memory: 8 bytes a sample.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/data/sources/source_view.h"

namespace stoker {

class Selection final : public SourceView {
 public:
  // Each place must be below source->size().
  Selection(std::shared_ptr<const Source> source, std::vector<std::uint64_t> places)
      : SourceView(std::move(source)), places_(std::move(places)) {}

  [[nodiscard]] std::uint64_t size() const override { return places_.size(); }
  [[nodiscard]] std::uint64_t original(std::uint64_t index) const noexcept override {
    return places_[index];
  }

 private:
  std::vector<std::uint64_t> places_;
};

}  // namespace stoker
