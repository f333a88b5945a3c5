// A convolution or matrix product of 8-bit integers as oneDNN computes it, with the addition, the
// activation and the rounding that follow in the same pass.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/graph/graph_executor.h"
#include "stoker/nn/inference/fuse_layers.h"
#include "stoker/nn/int8/byte_tensors.h"
#include "stoker/nn/int8/quantised_graph.h"

namespace stoker {

// How values lie in memory: as bytes or, without a QuantisedValue, as float32.
using Int8Form = std::optional<QuantisedValue>;

struct Int8LayerForms {
  QuantisedValue input;         // what it is rounded to
  bool input_is_bytes = false;  // it is already
  Int8Form added = {}, result = {};
};

// Whether this LibTorch has such layers, and this CPU can compute them.
[[nodiscard]] bool has_int8_layers();

// Activations that such a layer computes in the same pass.
[[nodiscard]] bool is_int8_activation(const GraphNode& layer, const std::string& activation);

// `sizes`: of the layer's input. `bias` may be undefined.
[[nodiscard]] GraphKernel int8_layer(const FusedLayer& fused, const at::Tensor& weight,
                                     const at::Tensor& bias, const std::vector<std::int64_t>& sizes,
                                     const Int8LayerForms& forms);

// A max-pool that can be computed of bytes (byte_tensors.h); nullopt for other nodes.
[[nodiscard]] std::optional<PoolSizes> byte_pool(const GraphNode& node);
[[nodiscard]] GraphKernel int8_pool(const GraphNode& node);

// Which of the rounded values lie in memory as bytes: those that layers make, if only layers and
// pools read them.
[[nodiscard]] std::vector<bool> values_in_bytes(const FusedGraph& fused,
                                                const QuantisedValues& quantised);

}  // namespace stoker
