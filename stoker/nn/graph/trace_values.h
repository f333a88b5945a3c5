// What flows through a network in use: types and shapes of every value of its graph, and those
// that are the same for all images.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/image/image.h"
#include "stoker/nn/graph/inference_graph.h"

namespace stoker {

// A size that may grow with the batch.
struct TracedSize {
  std::int64_t fixed = 0, per_sample = 0;

  [[nodiscard]] bool grows() const noexcept { return per_sample != 0; }
  bool operator==(const TracedSize&) const = default;
};

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
