// What flows through a network in use: types and shapes of every value of its graph, and those
// that are the same for all images.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/image/image.h"
#include "stoker/io/exported_program_write.h"
#include "stoker/nn/graph/inference_graph.h"

namespace stoker {

struct TracedValue {
  bool is_tensor = false;  // else an integer, `number`
  at::ScalarType type = at::kFloat;
  std::vector<TracedSize> sizes = {}, strides = {};
  TracedSize number = {};
  bool depends_on_images = false;  // else computed from weights and constants alone
  // Of one that does not depend on images but is used by what does. Where its first size grows,
  // one row: all are the same.
  at::Tensor constant = {};
};

// Executes the graph with two and with three images. Throws Error where a size grows otherwise than
// evenly with the batch, or where LibTorch cannot execute it.
[[nodiscard]] std::vector<TracedValue> trace_values(const InferenceGraph& network,
                                                    const ImageShape& image);

}  // namespace stoker
