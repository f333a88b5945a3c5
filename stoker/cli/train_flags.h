// The flags of `stoker train`, in timm's spelling where timm has them, and what they mean for the
// rooms below.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "stoker/cli/compute_flags.h"
#include "stoker/nn/preprocessing.h"
#include "stoker/train/options.h"

namespace stoker {

struct TrainFlags {
  std::string data, model;
  std::string policy = "none";
  std::uint64_t train_samples = 0;
  std::string opt = "sgd", sched = "cosine";
  std::vector<double> mean = {0}, deviation = {1};
  OptimiserOptions optimiser = {.weight_decay = 0};
  TrainOptions train;
  ComputeFlags compute;
  std::string output = "runs", experiment;
  std::string checkpoint_every = "1epoch";
  int keep = 2;
  std::string config, resume;

  void add_to(CLI::App& command);
  // Checks what flags alone cannot: names, and that what must be given is given.
  void resolve();
  [[nodiscard]] Preprocessing preprocessing() const;
};

// Flags that change where and how fast a run is made, but not what it makes: a resumed run may have
// others.
[[nodiscard]] const std::set<std::string>& flags_without_effect_on_the_result();

// "0.1" or "0.1 0.2 0.3" as a number for each of three channels.
[[nodiscard]] std::array<double, 3> per_channel_values(const std::vector<double>& values,
                                                       const char* flag);

}  // namespace stoker
