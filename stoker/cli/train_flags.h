// The flags of `stoker train`, in timm's spelling where timm has them, and what they mean for the
// modules below.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "stoker/augment/policy.h"
#include "stoker/cli/command.h"
#include "stoker/cli/compute_flags.h"
#include "stoker/cli/distributed_flags.h"
#include "stoker/cli/picture_flags.h"
#include "stoker/cli/record_options.h"
#include "stoker/cli/shard_flags.h"
#include "stoker/cli/validation_flags.h"
#include "stoker/nn/preprocessing.h"
#include "stoker/train/options.h"

namespace stoker {

struct TrainFlags {
  std::string data, model;
  ValidationFlags validation;
  std::string policy = "none", validation_policy = "auto";
  std::string train_samples = "0";  // data/sources/source_range.h
  std::string recipe, pretrained;
  std::string freeze = "none", features = "fresh", validation_features = "cached";
  bool freeze_norms = true;
  std::string loss = "cross-entropy", grad_reduction = "mean";
  std::string class_weights = "none", sampler = "shuffle";
  std::string batch_size = "64", lr = "0.1";  // or auto
  bool amp = false;
  std::string amp_type = "bfloat16";
  bool average = false;
  AverageOptions average_options = {.decay = 0.9998};
  std::uint32_t views = 10;
  std::string opt = "sgd", sched = "cosine";
  NormaliseFlags normalise;
  DecodeLimits limits;
  ShardFlags shards;
  OptimiserOptions optimiser = {.weight_decay = 0};
  TrainOptions train;
  std::string on_error = "stop", on_divergence = "stop";
  bool allow_nonfinite = false;  // --pretrained may have weights that are no numbers
  ComputeFlags compute;
  DistFlags dist;
  Launch launch;  // what follows from them and the environment
  std::string output = "runs", experiment;
  std::string checkpoint_every = "auto";
  int keep = 2;
  RecordOptions record;
  bool no_report = false;
  std::string config, resume;
  bool accept_changed_data = false, skip_unknown = false;
  bool take_folder = false;  // with --resume auto, a run that has none yet

  void add_to(const Command& command);
  // Checks what flags alone cannot: names, and that what must be given is given.
  void resolve();
  // What --model-ema asks for; a decay of 0: nothing.
  [[nodiscard]] AverageOptions averaging() const;
  // "float32", "bfloat16" or "float16"
  [[nodiscard]] std::string precision() const { return amp ? amp_type : "float32"; }
  // How many of a network's stages, the head counted, --freeze means. Throws Error where there are
  // fewer.
  [[nodiscard]] std::size_t frozen_stages(std::size_t stages) const;
  [[nodiscard]] Preprocessing preprocessing() const;
  // As given, or what fits the training policy: where that begins with a size, the middle of the
  // picture at that size; else nothing.
  [[nodiscard]] Policy resolved_validation_policy() const;
};

// Flags that change where and how fast a run is made, but not what it makes: a resumed run may have
// others.
[[nodiscard]] const std::set<std::string>& flags_without_effect_on_the_result();

}  // namespace stoker
