// Tries all engines with a model on some of its images.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stoker/data/sources/source.h"
#include "stoker/nn/engine_trial.h"
#include "stoker/run/ready_model.h"

namespace stoker {

struct RefusedEngine {
  std::string engine, reason;
};

struct TriedEngines {
  EngineTrial trial;
  std::vector<RefusedEngine> refused;  // not installed, or not for this network or precision
};

// Every engine computes the same few batches of `source` several times, in turn. `ready` has its
// policy, and its model lies on the CPU, else Error. The trial has other precisions of `card`'s
// trial too, where CPU and threads are the same.
[[nodiscard]] TriedEngines try_engines(ReadyModel& ready,
                                       const std::shared_ptr<const Source>& source,
                                       const std::string& precision);

}  // namespace stoker
