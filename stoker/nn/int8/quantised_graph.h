// A network in int8: which of its values are rounded to 8 bits, and how.
//
// What a convolution or a matrix product reads has 256 steps over its range (nn/calibration.h), the
// same for all channels. Weights have 129 steps, of their own for each output: with 255 times 64,
// twice, sums of two products fit into 16 bits, so that CPUs without VNNI compute the same as
// others. What layers make is rounded too, unless only an activation reads it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/calibration.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"

namespace stoker {

// A value is (stored - zero_point) * scale, with `stored` from 0 to 255.
struct QuantisedValue {
  float scale = 1;
  std::int64_t zero_point = 0;
  bool operator==(const QuantisedValue&) const = default;
};
using QuantisedValues = std::map<std::uint32_t, QuantisedValue>;  // by values of the graph

// The values of a network without norms (inference/fold_norms.h) that are rounded, each with the
// one whose range it has: a pool's result has that of its input.
[[nodiscard]] std::map<std::uint32_t, std::uint32_t> rounded_values(
    const InferenceGraph& network, const std::vector<TracedValue>& values);

// Throws Error where the calibration is that of another network.
[[nodiscard]] QuantisedValues quantised_values(const InferenceGraph& network,
                                               const std::vector<TracedValue>& values,
                                               const Calibration& calibration);

// A layer's weights are `values` times `scales`, one for each output.
struct QuantisedWeight {
  at::Tensor values;  // int8, -64 to 64
  at::Tensor scales;  // float32
};
[[nodiscard]] QuantisedWeight quantised_weight(const at::Tensor& weight);

}  // namespace stoker
