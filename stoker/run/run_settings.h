/// \file
/// All settings of a training run, and the list of them that flags, files and help derive from.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/augment/policy.h"
#include "stoker/core/setting.h"
#include "stoker/data/shards/shard_options.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/table_columns.h"
#include "stoker/distributed/launch.h"
#include "stoker/nn/preprocessing.h"
#include "stoker/pipeline/normalise_settings.h"
#include "stoker/run/record_options.h"
#include "stoker/run/settings_file.h"
#include "stoker/run/validation_settings.h"
#include "stoker/train/options.h"

namespace stoker {

/// On which device a model computes, with how many threads.
struct ComputeSettings {
  int workers = 0;  ///< that feed; 0: choose
  int threads = 0;  ///< of LibTorch; 0: choose
  std::string device = "auto";
};
/// Their list.
[[nodiscard]] std::vector<Setting> settings_of(ComputeSettings& compute);

/// Whether convolutions and matrix products are computed with fewer bits.
enum class MixedPrecision : std::uint8_t { kOff, kOn, kAuto };

/// Of several processes that train together.
struct RankSettings {
  LaunchFlags launch;
  std::string backend = "auto", interface, secret_file;
  bool reduce_afterwards = false;  ///< instead of while the backward pass goes on
  bool compress = false;           ///< gradients to bfloat16
  double timeout = 300;            ///< seconds
  bool sync_bn = false;

  [[nodiscard]] std::chrono::milliseconds timeout_ms() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000));
  }
};
/// Their list.
[[nodiscard]] std::vector<Setting> settings_of(RankSettings& ranks);

/// What stays as it is.
struct FrozenStages {
  bool all = false;         ///< but the last
  std::uint32_t first = 0;  ///< this many; 0: none

  /// Of a network's stages, the head counted. Throws Error where there are fewer.
  [[nodiscard]] std::size_t count(std::size_t stages) const;
  [[nodiscard]] SettingText text();
};

/// Everything that can be set for a run, with its defaults.
struct RunSettings {
  std::string data, model;
  std::string task = "auto";  ///< core/task.h; auto: what the data has
  ValidationSettings validation;
  std::string policy = "none", validation_policy = "auto";
  std::uint32_t image_size = 0;     ///< of training and validation; 0: as policies or data say
  std::string train_samples = "0";  ///< data/sources/source_range.h
  std::string recipe, pretrained;
  std::string weights_folder;     ///< of published weights (run/find_weights.h)
  bool download_weights = false;  ///< fetch published weights that are not there
  std::string teacher;  ///< a model file or a run's folder; its probabilities take part in the loss
  std::string head;     ///< of a network from a .pt2 file: its linear layer's name
  double drop_path = 0;  ///< probability that the last block is dropped (nn/networks/registry.h)
  FrozenStages freeze;
  bool cached_features = false;     ///< with all stages frozen
  std::uint32_t cached_views = 10;  ///< of each image, for cached features
  bool freeze_norms = true;
  bool balanced_loss = false, balanced_samples = false;
  bool auto_batch_size = false, auto_lr = false;  ///< try which suits
  bool auto_loss = true;                          ///< the usual one of the task
  MixedPrecision amp = MixedPrecision::kOff;
  bool amp_float16 = false;
  bool average = false;
  AverageOptions average_options = {.decay = 0.9998};
  NormaliseSettings normalise;
  FolderOptions images;
  ShardOptions shards;
  TableColumns table;
  OptimiserOptions optimiser;
  TrainOptions train = {.schedule = {.sched = ScheduleKind::kCosine}};
  bool allow_nonfinite = false;  ///< weights of `pretrained` may be no numbers
  ComputeSettings compute;
  RankSettings ranks;
  std::string output = "runs", experiment;
  std::string checkpoint_every = "auto";
  int keep = 2;
  RecordOptions record;
  bool no_report = false;
  std::string config, resume;
  bool accept_changed_data = false, skip_unknown = false;

  /// Checks what single settings cannot, and puts what follows from several into `train`.
  void resolve();
  /// What to average, if anything.
  [[nodiscard]] AverageOptions averaging() const;
  /// "float32", "bfloat16" or "float16"
  [[nodiscard]] std::string precision() const;
  [[nodiscard]] std::string lr_text() const;
  [[nodiscard]] Preprocessing preprocessing() const;
  /// As given, or what fits the training policy: where that begins with a size, the middle of the
  /// image at that size; else nothing.
  [[nodiscard]] Policy resolved_validation_policy() const;
};

/// All of them, in the order of args.yaml and of help.
[[nodiscard]] std::vector<Setting> settings_of(RunSettings& settings);

/// As YAML: what a run records.
[[nodiscard]] std::string recorded_yaml(const RunSettings& settings);
/// As YAML: what a checkpoint compares.
[[nodiscard]] std::string identity_yaml(const RunSettings& settings);
/// As YAML: every setting at its default.
[[nodiscard]] std::string default_yaml();

}  // namespace stoker
