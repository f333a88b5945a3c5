// Layers of an exported graph that behave differently in training and in use.
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/nn/graph/graph_call.h"
#include "stoker/nn/model.h"

namespace stoker {

// aten::batch_norm. In training over the batches of all ranks where they share statistics.
[[nodiscard]] at::Tensor graph_batch_norm(const GraphCall& call, const GraphValues& values,
                                          bool training);

// aten::dropout and dropout_; without a key what it was given.
[[nodiscard]] at::Tensor graph_dropout(const GraphCall& call, const GraphValues& values,
                                       std::int64_t samples, const std::optional<DrawKey>& key);

// aten::scaled_dot_product_attention with dropout; without a key, without it.
[[nodiscard]] at::Tensor graph_attention(const GraphCall& call, const GraphValues& values,
                                         std::int64_t samples, const std::optional<DrawKey>& key);

// aten::bernoulli_: 1 with the call's probability, else 0, in place.
[[nodiscard]] at::Tensor graph_draw(const GraphCall& call, const GraphValues& values,
                                    std::int64_t samples, const DrawKey& key);

}  // namespace stoker
