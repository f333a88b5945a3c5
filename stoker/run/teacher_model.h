// The network that a run learns from (`teacher`), from a model file or a run's folder.
#pragma once

#include <memory>

#include "stoker/run/run_settings.h"
#include "stoker/train/trainer.h"

namespace stoker {

// On the student's device, in its precision. Throws Error where the teacher classifies otherwise
// than the student will: other classes, other images, or pixels that became other numbers.
[[nodiscard]] std::shared_ptr<const Model> load_teacher(const RunSettings& settings,
                                                        const TrainData& data,
                                                        const Model& student);

}  // namespace stoker
