// What a model's outputs for one image mean, as stoker/predict.h tells it.
#pragma once

#include <span>

#include "stoker/nn/model_file.h"
#include "stoker/predict.h"

namespace stoker {

// `outputs`: probabilities of all classes, or numbers, as predicted_numbers() gives them. Without a
// name.
[[nodiscard]] ImagePrediction image_prediction(const ModelCard& card,
                                               std::span<const float> outputs);

}  // namespace stoker
