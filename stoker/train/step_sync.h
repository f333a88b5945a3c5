// What a step of training shares with other ranks: LocalSync, with none; RankSync, with all of a
// group. The trainer makes the same calls for both, in this order:
//
//   begin_step ▸ pass… ▸ start_beat ▸ last pass (begin_gradients in it) ▸ finish_gradients ▸
//   start_sums ▸ finish_sums
//
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "stoker/distributed/group.h"
#include "stoker/train/observer.h"
#include "stoker/train/state.h"

namespace stoker {

class StepSync {
 public:
  using Stop = std::function<bool()>;  // whether this process was asked to stop; may be empty

  StepSync() = default;
  StepSync(const StepSync&) = delete;
  StepSync& operator=(const StepSync&) = delete;
  virtual ~StepSync() = default;

  // The ranks that train together; null where this process trains alone.
  [[nodiscard]] virtual Group* group() noexcept = 0;

  // Other stages learn from now on.
  virtual void stages_changed() = 0;
  virtual void begin_epoch() = 0;

  virtual void begin_step() = 0;
  // What passes of this process add their losses to.
  [[nodiscard]] virtual EpochSums& sums() noexcept = 0;
  // Before the step's last pass, which hides the time it takes. `marks`: of this process's samples.
  virtual void start_beat(const Stop& stop, std::uint64_t marks) = 0;
  // Runs a pass of training. The last one of a step calls begin_gradients() when its forward half
  // is done.
  virtual void pass(const std::function<void()>& action) = 0;
  // Whether a pass that failed can be made again: not where other ranks may wait in it.
  [[nodiscard]] virtual bool can_repeat_pass() const noexcept = 0;
  // Running statistics are as they were when the step began. Only where passes can be made again.
  virtual void forget_passes() = 0;
  virtual void begin_gradients() = 0;
  virtual void finish_gradients() = 0;
  // Both get the number of samples in the step, over all ranks. After finish_sums() the state's
  // sums contain the step.
  virtual void start_sums(std::uint64_t samples) = 0;
  virtual void finish_sums(std::uint64_t samples) = 0;

  // After finish_sums(). Ranks stop after the same step: what they agreed on counts.
  [[nodiscard]] virtual bool should_stop(const Stop& stop) const = 0;
  // Of the samples of all ranks.
  [[nodiscard]] virtual std::uint64_t marks() const noexcept = 0;
  // Of the epoch under way; nothing where this process trains alone.
  [[nodiscard]] virtual std::optional<RankTimes> times() const = 0;
};

}  // namespace stoker
