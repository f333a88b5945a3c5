// From settings to all that a run needs: data, model, device, state. Settings that are "auto" are
// chosen here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/data/data_identity.h"
#include "stoker/data/training_parts.h"
#include "stoker/run/place_model.h"
#include "stoker/run/run_events.h"
#include "stoker/run/run_settings.h"
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
  std::vector<std::string> data_notes = {};  // what was omitted, and warnings
  DataIdentity identity = {};                // made once all ranks are known to agree
};

// The data that the settings name, opened and divided.
[[nodiscard]] TrainingParts open_parts(const RunSettings& settings);

// Fails where it must before anything is written; puts into the settings what was chosen, and into
// `given` the names of what was not left to later choices. With several ranks, `rank_0s` lets all
// of them have what rank 0 chose.
[[nodiscard]] TrainSetup set_up(RunSettings& settings, GivenSettings& given, const Launch& launch,
                                const RunEvents& events, const ShareText& rank_0s = {});

// The settings with what was chosen in place of 0 and auto.
[[nodiscard]] RunSettings resolved(const RunSettings& settings, const TrainSetup& setup);

}  // namespace stoker
