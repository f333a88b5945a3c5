// Rank 0's state for all ranks, before the first step. So only rank 0 has to see the checkpoint,
// and all begin with the same bits.
#pragma once

#include "stoker/distributed/group.h"
#include "stoker/train/state.h"

namespace stoker {

void share_state(Group& group, State& state);

}  // namespace stoker
