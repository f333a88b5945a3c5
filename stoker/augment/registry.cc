#include "stoker/augment/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/augment/noise.h"
#include "stoker/augment/rotate.h"
#include "stoker/augment/scale.h"
#include "stoker/augment/shift.h"
#include "stoker/augment/skew.h"
#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker {

// A list, not registration by static initialisers: the linker drops those it sees no use of.
std::span<const OperationSchema> builtin_operations() {
  static const std::vector<OperationSchema> operations = {
      rotate_schema(), shift_schema(), skew_schema(), scale_schema(), noise_schema(),
  };
  return operations;
}

const OperationSchema& find_operation(std::string_view name) {
  std::vector<std::string> names;
  for (const OperationSchema& operation : builtin_operations()) {
    if (operation.name == name) return operation;
    names.push_back(operation.name);
  }
  const std::string near = did_you_mean(name, names);
  throw Error({.what = "there is no such operation",
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .found = fmt::format("\"{}\"", name),
               .hint = near.empty() ? "`stoker ops` describes them all" : near});
}

}  // namespace stoker
