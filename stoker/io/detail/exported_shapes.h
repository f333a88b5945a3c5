// Shapes that an exported graph claims for its values.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "stoker/io/exported_program.h"

namespace stoker::detail {

// Sets the shape of each value that `graph` (its "tensor_values") tells. Anything odd there is no
// shape, never an error: nothing depends on it.
void read_claimed_shapes(const nlohmann::json& graph, std::vector<GraphValueInfo>& values);

}  // namespace stoker::detail
