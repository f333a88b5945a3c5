// What a training run tells while it goes. All calls come from the thread that trains, between two
// steps; an exception ends the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stoker/core/metrics_result.h"
#include "stoker/core/task.h"
#include "stoker/distributed/gradients.h"
#include "stoker/pipeline/faults.h"
#include "stoker/pipeline/feed_stats.h"
#include "stoker/train/state.h"

namespace stoker {

// Of a run with several ranks, in the epoch so far.
struct RankTimes {
  int ranks = 1;
  // Until a rank had nothing left to compute, waiting for its own data included.
  int slowest = 0;
  double slowest_seconds = 0, mean_seconds = 0;
  ReductionTimes reduction = {};  // as this rank saw it
};

// After a step. Reading the sums brings them from the device: do so rarely.
struct StepReport {
  const State& state;
  std::uint32_t epoch = 0, epochs = 0;
  std::uint64_t samples_done = 0;   // of the epoch
  std::uint64_t samples_total = 0;  // of the epoch
  double rate = 0;
  double seconds = 0;     // since this process began the epoch
  double wait_share = 0;  // of those, waiting for data
  std::optional<RankTimes> ranks = {};
  Task task = Task::kClassify;
};

// Seconds of the training phase, as the thread that trains spends them. On a device that computes
// by itself these are the times in which it is told what to do, and waited for.
struct StepTimes {
  double wait = 0;  // for the workers
  double copy = 0;  // batches to the device, and the last one's memory back to the workers
  double forward = 0, backward = 0;
  double step = 0;  // of the optimiser, with clipping
};

struct EpochReport : EpochNumbers {
  const State& state;
  bool is_best = false, is_last = false;
  double features_seconds = 0;  // before this epoch, making features that are kept
  StepTimes times = {};
  std::optional<RankTimes> ranks = {};
  std::optional<FeedStats> feed = {};        // since this process began, where there is a feed
  std::span<const SampleFault> faults = {};  // replaced samples since this process began
  std::span<const SampleFault> validation_faults = {};  // skipped in this epoch's validation
};

struct Predictions;  // evaluate.h

class Observer {
 public:
  virtual ~Observer() = default;
  // Before the first step, where features are kept: samples whose features are computed.
  virtual void features_done(std::uint64_t done, std::uint64_t total) {
    static_cast<void>(done);
    static_cast<void>(total);
  }
  // A batch did not fit into the device's memory and is computed in this many parts from now on.
  virtual void batch_split(std::uint32_t parts) { static_cast<void>(parts); }
  virtual void step_done(const StepReport& report) { static_cast<void>(report); }
  // The loss diverges, in the way that the phrase says. Told once in a process; the run then ends
  // or goes on, as its options say.
  virtual void diverged(const State& state, const std::string& how) {
    static_cast<void>(state);
    static_cast<void>(how);
  }
  // All steps of an epoch are made and its validation is next. The state may be saved: a run that
  // is resumed from it begins with this validation.
  virtual void epoch_trained(const State& state) { static_cast<void>(state); }
  // The validation failed, which ends the run after this call. The state is that of
  // epoch_trained().
  virtual void validation_failed(const State& state) { static_cast<void>(state); }
  // In the validation after an epoch, for every batch in order; epoch_done() follows.
  virtual void predicted(const Predictions& predictions) { static_cast<void>(predictions); }
  virtual void epoch_done(const EpochReport& report) { static_cast<void>(report); }
  // The state may be saved now: after each step, and after epoch_done where one ended.
  virtual void state_settled(const State& state, bool epoch_ended) {
    static_cast<void>(state);
    static_cast<void>(epoch_ended);
  }
};

}  // namespace stoker
