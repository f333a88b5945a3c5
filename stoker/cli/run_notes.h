// What is said of a training run in its log, and noted of it for reports.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "stoker/cli/run_folder.h"
#include "stoker/cli/run_pictures.h"
#include "stoker/cli/train_setup.h"
#include "stoker/distributed/group.h"

namespace stoker {

// Data, model, device; then the ranks.
void introduce(RunFolder& folder, const TrainFlags& flags, const TrainSetup& setup);
void introduce(RunFolder& folder, const Group& group);

void say_where_it_goes_on(RunFolder& folder, const Checkpointing::Restored& restored,
                          const State& state);
void say_how_it_ended(RunFolder& folder, RunEnd end, const State& state, double seconds);

[[nodiscard]] PictureSources pictures_of(const TrainFlags& flags, const TrainData& data);

// What a report says of the run beside its settings.
[[nodiscard]] nlohmann::ordered_json facts_of(const TrainFlags& flags, const TrainSetup& setup,
                                              const std::string& settings);

}  // namespace stoker
