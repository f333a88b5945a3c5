// The class of a sample in a WebDataset's .json.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stoker::detail {

// The number or text of the field label, cls or class of the object, whichever comes first in this
// list; empty where there is none or the bytes are no JSON.
[[nodiscard]] std::string class_in_json(std::span<const std::byte> bytes);

}  // namespace stoker::detail
