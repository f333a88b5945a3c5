/// \file
/// Training: a run from its settings, recorded in a folder, that can be stopped or killed at any
/// time and resumed to the same weights.
///
///     #include <stoker/train.h>
///
///     stoker::RunSettings settings;
///     settings.data = "mnist";
///     settings.model = "cnn:small";
///     settings.experiment = "first";
///     settings.resume = "auto";  // continues the run where it is there
///     stoker::train(settings, {.line = [](const std::string& line) { std::puts(line.c_str()); }});
///
/// stoker::RunSettings holds what `stoker train` takes as flags; docs/settings.md lists them. The
/// run's folder is the same as the program's: `stoker report` and `stoker predict` use it.
///
/// Errors are thrown as stoker::Error. Link with the CMake target `Stoker::train`, which contains
/// the feed (stoker/feed.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "stoker/export.h"
#include "stoker/run/run_settings.h"

namespace stoker {

/// What an epoch gave.
struct TrainEpoch {
  std::uint32_t epoch = 0;                ///< counted from 0
  double train_loss = 0, train_top1 = 0;  ///< the second of classifiers alone
  double validation_loss = 0, validation_top1 = 0;
  double validation_score = 0;  ///< top-1, mean average precision or R², as the task has it
  bool is_best = false;
  double seconds = 0, samples_per_second = 0;  ///< of the training phase
};

/// What a run tells the program that started it, and asks of it. Every function may be empty. All
/// calls come from the thread that called train().
struct TrainEvents {
  std::function<void(const std::string& line)> line = {};  ///< each line of log.txt
  std::function<void(const TrainEpoch& epoch)> epoch = {};
  std::function<bool()> should_stop = {};  ///< asked after every step
};

/// How a run ended.
enum class TrainEnd {
  kAllEpochs,
  kNoProgress,  ///< no better epoch for RunSettings::train.patience epochs
  kStopped,     ///< it was asked to; it can be resumed
  kDiverged,    ///< the loss exploded
};

/// What came of a run.
struct TrainResult {
  TrainEnd end = TrainEnd::kAllEpochs;
  std::filesystem::path folder;
  std::uint64_t steps = 0;               ///< in all processes of the run
  std::optional<double> test_top1 = {};  ///< where there is test data, of the best epoch's weights
  std::optional<double> test_score =
      {};                       ///< the task's: top-1, mAP or R², where there is test data
  std::string divergence = {};  ///< what happened, with kDiverged
};

/// Trains. Settings that differ from their defaults count as given: a config file, a recipe and a
/// resumed run set the others. As one of several ranks (torchrun's variables, or
/// RunSettings::ranks) every process calls it; rank 0 writes.
STOKER_API TrainResult train(const RunSettings& settings, const TrainEvents& events = {});

}  // namespace stoker
