// What must hold of a run's options before it starts. Plain functions; they throw Error.
#pragma once

#include <ATen/core/Tensor.h>

#include "stoker/nn/model.h"
#include "stoker/train/options.h"

namespace stoker::detail {

// The same options.
[[nodiscard]] TrainOptions checked(const TrainOptions& options);

// Of the loss, on the model's device; not defined: all 1.
[[nodiscard]] at::Tensor class_weights(const TrainOptions& options, const Model& model);

}  // namespace stoker::detail
