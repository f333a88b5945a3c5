#include "stoker/data/sources/subset.h"

#include <limits>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// No epoch of a run: which samples are in the part has nothing to do with their order in it.
constexpr std::uint32_t kChoiceEpoch = std::numeric_limits<std::uint32_t>::max();

std::uint64_t checked(std::uint64_t samples, std::uint64_t available) {
  if (samples >= 1 && samples <= available) return samples;
  throw OptionError({.what = "the data has fewer samples",
                     .expected = fmt::format("1 to {}", available),
                     .found = fmt::format("{}", samples)});
}

}  // namespace

Subset::Subset(std::shared_ptr<const Source> source, std::uint64_t samples, std::uint64_t seed)
    : SourceView(std::move(source)),
      size_(checked(samples, this->source().size())),
      order_(this->source().size(), seed, kChoiceEpoch) {}

}  // namespace stoker
