// Weights that are NaN or infinite make every result meaningless: a run that diverged leaves them.
#pragma once

#include <span>
#include <string>

#include "stoker/io/safetensors.h"
#include "stoker/nn/model.h"

namespace stoker {

// Throws Error, with the first tensor and how many of its values are not finite. One pass over the
// weights.
void require_finite(std::span<const NamedTensor> tensors, const std::string& path);
// The same for tensors of a file.
void require_finite(std::span<const TensorView> tensors, const std::string& path);

}  // namespace stoker
