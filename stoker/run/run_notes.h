// What is said of a training run in its log, and noted of it for reports.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "stoker/distributed/group.h"
#include "stoker/run/run_folder.h"
#include "stoker/run/run_images.h"
#include "stoker/run/train_setup.h"

namespace stoker {

// Data, model, device; then the ranks.
void introduce(RunFolder& folder, const RunSettings& run, const TrainSetup& setup);
void introduce(RunFolder& folder, const Group& group);

void say_resume_point(RunFolder& folder, const Checkpointing::Restored& restored,
                      const State& state, const TrainOptions& options);
void say_how_it_ended(RunFolder& folder, RunEnd end, Task task, const State& state, double seconds);

[[nodiscard]] ImageSources images_of(const RunSettings& run, const TrainData& data);

// What a report says of the run beside its settings.
[[nodiscard]] nlohmann::ordered_json facts_of(const RunSettings& run, const TrainSetup& setup,
                                              const std::string& settings);

}  // namespace stoker
