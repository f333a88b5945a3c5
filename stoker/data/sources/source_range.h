// The samples [begin, end) of a source, in their order. Costs no memory per sample.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "stoker/data/sources/source_view.h"

namespace stoker {

struct IndexRange {
  static constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t begin = 0, end = kToTheEnd;
  bool operator==(const IndexRange&) const = default;
};

class SourceRange final : public SourceView {
 public:
  // begin < end <= source->size(), or kToTheEnd for the size; else Error, which names `what`.
  SourceRange(std::shared_ptr<const Source> source, const IndexRange& range,
              const std::string& what);

  [[nodiscard]] std::uint64_t size() const override { return range_.end - range_.begin; }
  [[nodiscard]] std::uint64_t original(std::uint64_t index) const noexcept override {
    return range_.begin + index;
  }

 private:
  IndexRange range_;
};

// The training samples that --train-samples names: "0" all of them, "N" N at random, chosen by the
// seed (subset.h), "first:N" the first N. Throws Error where there are fewer, or for other text.
[[nodiscard]] std::shared_ptr<const Source> chosen_samples(std::shared_ptr<const Source> source,
                                                           const std::string& choice,
                                                           std::uint64_t seed);

}  // namespace stoker
