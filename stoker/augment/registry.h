/// \file
/// All operations that a policy can name: the built-in ones in one explicit list, and those that a
/// program adds. Any thread may call any function; what they return stays valid until the process
/// ends.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stoker/augment/operation.h"
#include "stoker/export.h"

namespace stoker {

/// Those that every policy can name.
[[nodiscard]] STOKER_API std::span<const OperationSchema> builtin_operations();

/// Adds an operation of the program's own, for the whole process and for good; policies that are
/// parsed from then on can name it. Throws Error where the schema cannot work: a name that is taken
/// or has other characters than a-z, 0-9, "_" and "-", a parameter without name or with an empty
/// range, a default value outside its range, no `make`.
STOKER_API void register_operation(OperationSchema schema);

/// Those that were added, in their order.
[[nodiscard]] STOKER_API std::vector<const OperationSchema*> registered_operations();

/// Throws Error with the known names and the nearest one where there is none of this name.
[[nodiscard]] STOKER_API const OperationSchema& find_operation(std::string_view name);

}  // namespace stoker
