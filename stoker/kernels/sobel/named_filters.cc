#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

// A smoothing column times a differentiating row: 1 2 1 or 3 10 3 or 1 4 6 4 1, and 1 0 -1 or
// 1 2 0 -2 -1.
constexpr std::array<NamedFilter, 5> kFilters = {{
    {.name = "sobel3", .rows = 3, .columns = 3, .values = {1, 0, -1, 2, 0, -2, 1, 0, -1}},
    {.name = "scharr", .rows = 3, .columns = 3, .values = {3, 0, -3, 10, 0, -10, 3, 0, -3}},
    {.name = "sobel5x3",
     .rows = 5,
     .columns = 3,
     .values = {1, 0, -1, 4, 0, -4, 6, 0, -6, 4, 0, -4, 1, 0, -1}},
    {.name = "sobel5", .rows = 5, .columns = 5, .values = {1,  2,  0,  -2, -1,  4,  8, 0, -8,
                                                           -4, 6,  12, 0,  -12, -6, 4, 8, 0,
                                                           -8, -4, 1,  2,  0,   -2, -1}},
    {.name = "blur",
     .rows = 3,
     .columns = 3,
     .correlation_only = true,
     .values = {1, 1, 1, 1, 0, 1, 1, 1, 1}},
}};

}  // namespace

std::span<const NamedFilter> named_filters() { return kFilters; }

const NamedFilter& named_filter(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NamedFilter& filter : kFilters) {
    if (filter.name == name) return filter;
    names.push_back(filter.name);
  }
  throw Error({.what = "no such filter",
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .found = fmt::format("\"{}\"", name),
               .hint = "other filters are given by their numbers"});
}

}  // namespace stoker
