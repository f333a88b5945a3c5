// Batch norms become part of the convolutions in front of them: in use a norm is a factor and an
// offset for each channel, which weights and bias can hold.
#pragma once

#include "stoker/nn/graph/inference_graph.h"

namespace stoker {

// Where the convolution's weights are known and nothing else uses its result. Others stay.
[[nodiscard]] InferenceGraph with_folded_norms(InferenceGraph network);

}  // namespace stoker
