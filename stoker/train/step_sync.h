// What the ranks of a training run tell each other in every step: gradients, sums of losses,
// running statistics, samples seen, the wish to stop, and how long each was busy. After a step
// every rank's state is the same, bit for bit. One thread; all ranks make the same calls.
//
//   begin_step ▸ pass… ▸ start_beat ▸ last pass (begin_gradients in it) ▸ finish_gradients ▸
//   start_sums ▸ finish_sums
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/distributed/gradients.h"
#include "stoker/distributed/group.h"
#include "stoker/train/observer.h"
#include "stoker/train/state.h"

namespace stoker {

struct StepSyncOptions {
  ReductionOptions reduction = {};
  bool shared_statistics = false;  // of batch norms, in every pass (nn/layers/shared_statistics.h)
};

class StepSync {
 public:
  // Group and state must outlive it.
  StepSync(Group& group, State& state, const StepSyncOptions& options);
  ~StepSync();

  [[nodiscard]] Group& group() noexcept { return group_; }

  // Other stages learn from now on.
  void stages_changed();
  void begin_epoch();

  void begin_step();
  // Before the step's last pass, which hides the time it takes. `marks`: of this rank's samples.
  void start_beat(bool stop, std::uint64_t marks);
  // Runs a pass of training. The last one of a step calls begin_gradients() when its forward half
  // is done.
  void pass(const std::function<void()>& action);
  void begin_gradients();
  void finish_gradients();
  // This rank's part of the step; `share` of the step's samples were its own.
  void start_sums(const EpochSums& own, double share);
  // Adds all ranks' parts to the state's sums; running statistics become the mean over the ranks.
  void finish_sums(EpochSums& sums);

  // What the beat brought; after finish_sums().
  [[nodiscard]] bool stop() const noexcept { return stop_; }
  [[nodiscard]] std::uint64_t marks() const noexcept { return marks_; }
  [[nodiscard]] std::vector<BucketTimes> last_buckets() const { return gradients_->last_buckets(); }
  // Of the epoch under way.
  [[nodiscard]] RankTimes times() const;

 private:
  void finish_beat();

  Group& group_;
  State& state_;
  StepSyncOptions options_;
  std::unique_ptr<GradientReduction> gradients_;
  std::vector<at::Tensor> statistics_;  // running ones, that steps change
  at::Tensor beat_, sums_;
  std::optional<Group::Pending> beat_sent_, sums_sent_;
  bool stop_ = false;
  std::uint64_t marks_ = 0;
  double began_ = 0, last_busy_ = 0;
  std::vector<double> busy_;  // of each rank
  ReductionTimes before_;     // at the start of the epoch, or of other stages
  ReductionTimes gone_;       // of reductions that were replaced in this epoch
};

}  // namespace stoker
