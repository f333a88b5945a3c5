#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

constexpr std::size_t kDocumentFilters = 5;

// Each but `blur` is a smoothing column times a differentiating row. The first five are the
// documents'; every coefficient is pinned in sobel_test.cc.
constexpr std::array<NamedFilter, 7> kFilters = {{
    // (1 2 1)ᵀ · (1 0 -1)
    {.name = "f1",
     .alias = "sobel3",
     .rows = 3,
     .columns = 3,
     .values = {1, 0, -1,  //
                2, 0, -2,  //
                1, 0, -1}},
    // (3 10 3)ᵀ · (1 0 -1)
    {.name = "f2",
     .alias = "scharr",
     .rows = 3,
     .columns = 3,
     .values = {3, 0, -3,    //
                10, 0, -10,  //
                3, 0, -3}},
    // (1 2 1 2 1)ᵀ · (1 0 -1)
    {.name = "f3",
     .rows = 5,
     .columns = 3,
     .values = {1, 0, -1,  //
                2, 0, -2,  //
                1, 0, -1,  //
                2, 0, -2,  //
                1, 0, -1}},
    // (1 2 1 2 1)ᵀ · (1 0 0 0 -1)
    {.name = "f4", .rows = 5, .columns = 5, .values = {1, 0, 0, 0, -1,  //
                                                       2, 0, 0, 0, -2,  //
                                                       1, 0, 0, 0, -1,  //
                                                       2, 0, 0, 0, -2,  //
                                                       1, 0, 0, 0, -1}},
    {.name = "blur",
     .rows = 3,
     .columns = 3,
     .correlation_only = true,
     .values = {1, 1, 1,  //
                1, 0, 1,  //
                1, 1, 1}},
    // (1 4 6 4 1)ᵀ · (1 0 -1)
    {.name = "binomial5x3",
     .alias = "sobel5x3",
     .rows = 5,
     .columns = 3,
     .values = {1, 0, -1,  //
                4, 0, -4,  //
                6, 0, -6,  //
                4, 0, -4,  //
                1, 0, -1}},
    // (1 4 6 4 1)ᵀ · (1 2 0 -2 -1), OpenCV's Sobel of size 5
    {.name = "binomial5x5",
     .alias = "sobel5",
     .rows = 5,
     .columns = 5,
     .values = {1, 2,  0, -2,  -1,  //
                4, 8,  0, -8,  -4,  //
                6, 12, 0, -12, -6,  //
                4, 8,  0, -8,  -4,  //
                1, 2,  0, -2,  -1}},
}};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const NamedFilter& filter : kFilters) {
    names.emplace_back(filter.name);
    if (!filter.alias.empty()) names.emplace_back(filter.alias);
  }
  return names;
}

}  // namespace

std::span<const NamedFilter> named_filters() { return kFilters; }

std::span<const NamedFilter> document_filters() {
  return std::span(kFilters).first(kDocumentFilters);
}

const NamedFilter* find_filter(std::string_view name) {
  const auto* found =
      std::find_if(kFilters.begin(), kFilters.end(), [&](const NamedFilter& filter) {
        return filter.name == name || (!filter.alias.empty() && filter.alias == name);
      });
  return found == kFilters.end() ? nullptr : found;
}

const NamedFilter& named_filter(std::string_view name) {
  if (const NamedFilter* found = find_filter(name)) return *found;
  const std::vector<std::string> names = all_names();
  throw Error({.what = "unknown filter",
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .found = fmt::format("\"{}\"", name),
               .hint = did_you_mean(name, names)});
}

}  // namespace stoker
