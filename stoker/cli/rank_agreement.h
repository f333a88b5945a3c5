// Ranks that train together must mean the same run: the same settings and the same data.
#pragma once

#include <vector>

#include "stoker/cli/command.h"
#include "stoker/cli/train_flags.h"
#include "stoker/cli/train_setup.h"
#include "stoker/distributed/group.h"

namespace stoker {

// The parts of the run's data, with names for messages.
[[nodiscard]] std::vector<DataPart> data_parts(const TrainSetup& setup);

// All ranks call it after set_up(). Throws Error on the rank that differs from rank 0. Puts the
// identity of the data into the setup.
void check_agreement(const Command& command, const TrainFlags& flags, TrainSetup& setup,
                     Group& group);

}  // namespace stoker
