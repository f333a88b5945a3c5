// The operators that an exported network may use. Whatever is not on the list is refused by name:
// a file can ask for nothing but arithmetic on tensors.
#pragma once

#include <span>
#include <string_view>

namespace stoker {

// "aten::conv2d", "aten::add_.Tensor". Sorted.
[[nodiscard]] std::span<const std::string_view> exported_operators();
[[nodiscard]] bool is_exported_operator(std::string_view name);

// Of integers: "add", "floordiv", "mul", "sub".
[[nodiscard]] bool is_integer_operator(std::string_view name);

}  // namespace stoker
