// What must hold of a teacher (TrainData::teacher) before it takes part in training. Functions
// without state.
#pragma once

#include <string>

#include "stoker/core/task.h"
#include "stoker/train/options.h"
#include "stoker/train/state.h"

namespace stoker {

// Of its architecture and all of its tensors.
[[nodiscard]] std::string digest_of_model(const Model& model);

// The state belongs to this teacher from now on; null: to none. Throws Error where it belongs to
// another one already, or where the teacher cannot teach the state's model.
void join_teacher(State& state, const Model* teacher, const TrainOptions& options, Task task);

}  // namespace stoker
