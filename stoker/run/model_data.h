// Data for a trained model: its images in the size and the colours that the model takes.
#pragma once

#include <optional>
#include <string>

#include "stoker/augment/policy.h"
#include "stoker/data/training_parts.h"
#include "stoker/nn/model_file.h"

namespace stoker {

struct ModelData {
  EvaluationPart part;
  Policy policy;          // that gives the images their size
  std::string note = {};  // how the images are changed where the model's file does not say it
};

struct ModelDataRequest {
  std::string data, weights;        // the weights only for messages
  std::optional<Split> split = {};  // nothing: test, else val, else all
  DataOptions options = {};
};

// Throws Error where the data is not there or its images cannot become the model's.
[[nodiscard]] ModelData open_model_data(const ModelCard& card, const ModelDataRequest& request);

}  // namespace stoker
