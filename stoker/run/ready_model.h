// A trained model on its device, and the options for evaluating it: what every command and class
// needs that uses one.
#pragma once

#include <string>

#include "stoker/nn/model_file.h"
#include "stoker/run/engine_choice.h"
#include "stoker/run/run_settings.h"
#include "stoker/train/evaluate.h"

namespace stoker {

struct ReadyModel {
  LoadedModel loaded;
  // Samples that cannot be read are omitted and told, however many they are. Without a policy,
  // which follows from the data (model_data.h).
  EvaluateOptions options;
  std::string device;  // with the reason for it
  int threads = 1;     // that compute

  // For people: "OpenVINO, float32, 2 threads".
  [[nodiscard]] std::string engine_text() const;
};

// `options`: those that the caller chooses; a batch size of 0 is chosen by the model's images. The
// engine is made from its settings.
// Sets the threads of the whole process. Throws Error where the device is not there.
[[nodiscard]] ReadyModel make_ready(LoadedModel loaded, const ComputeSettings& compute,
                                    EvaluateOptions options = {.batch_size = 0},
                                    const EngineSettings& engine = {});

}  // namespace stoker
