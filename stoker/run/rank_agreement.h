// Ranks that train together must mean the same run: the same settings and the same data.
#pragma once

#include <vector>

#include "stoker/distributed/group.h"
#include "stoker/run/train_setup.h"

namespace stoker {

// The parts of the run's data, with names for messages.
[[nodiscard]] std::vector<DataPart> data_parts(const TrainSetup& setup);

// All ranks call it after set_up(). Throws Error on the rank that differs from rank 0. Puts the
// identity of the data into the setup.
void check_agreement(const RunSettings& settings, TrainSetup& setup, Group& group);

}  // namespace stoker
