// From the flags of `stoker train` to all that a run needs: data, model, device, state. Settings
// that are "auto" are chosen here.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stoker/cli/place_model.h"
#include "stoker/cli/train_flags.h"
#include "stoker/cli/yaml_flags.h"
#include "stoker/data/data_identity.h"
#include "stoker/data/training_parts.h"
#include "stoker/train/checkpointing.h"
#include "stoker/train/rate_range.h"
#include "stoker/train/trainer.h"

namespace stoker {

struct TrainSetup {
  TrainData data;
  TrainingParts parts;     // as opened: where they come from, how they were divided, the test
  std::string pretrained;  // what was taken from --pretrained
  Placement placement;
  State state;
  CheckpointInterval interval;
  std::size_t fixed_stages;                  // that never learn
  bool fixed_norms = true;                   // of these stages
  std::vector<std::string> notes;            // what was tried out, for the run's log
  std::optional<RateRange> rate_range = {};  // with --lr auto
  std::vector<std::string> data_notes = {};  // what was left out, and warnings
  DataIdentity identity = {};                // made once all ranks are known to agree
};

// The data that the flags name, opened and divided.
[[nodiscard]] TrainingParts open_parts(const TrainFlags& flags);

// Fails where it must before anything is written; puts into the flags what was chosen.
[[nodiscard]] TrainSetup set_up(TrainFlags& flags);

// The flags with what was chosen in place of 0 and auto.
[[nodiscard]] FlagValues resolved_values(const Command& command, const TrainFlags& flags,
                                         const TrainSetup& setup,
                                         const std::set<std::string>& left_out);

}  // namespace stoker
