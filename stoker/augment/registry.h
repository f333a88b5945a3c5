// All operations that a policy can name, in one explicit list.
#pragma once

#include <span>
#include <string_view>

#include "stoker/augment/operation.h"

namespace stoker {

[[nodiscard]] std::span<const OperationSchema> builtin_operations();

// Throws Error with the known names and the nearest one where there is none of this name.
[[nodiscard]] const OperationSchema& find_operation(std::string_view name);

}  // namespace stoker
