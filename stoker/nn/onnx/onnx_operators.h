// How each of ATen's operators is written in ONNX: one function for each, or for a few that are
// alike.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "stoker/nn/onnx/onnx_emitter.h"

namespace stoker {

using EmitOperator = void (*)(OnnxEmitter&, const GraphNode&);

// By "aten::relu"; null where ONNX has nothing for it.
[[nodiscard]] EmitOperator onnx_operator(std::string_view target);

using OnnxOperators = std::span<const std::pair<std::string_view, EmitOperator>>;
[[nodiscard]] OnnxOperators onnx_elementwise();  // and reductions
[[nodiscard]] OnnxOperators onnx_layers();       // convolutions, products, norms, attention
[[nodiscard]] OnnxOperators onnx_pools();        // and resizing
[[nodiscard]] OnnxOperators onnx_shapes();       // that move values, and compute none

}  // namespace stoker
