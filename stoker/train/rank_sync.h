// RankSync: what the ranks of a training run tell each other in every step: gradients, sums of
// losses, running statistics, samples seen, the wish to stop, and how long each was busy. After a
// step every rank's state is the same, bit for bit. One thread; all ranks make the same calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stoker/distributed/gradients.h"
#include "stoker/distributed/group.h"
#include "stoker/train/step_sync.h"

namespace stoker {

struct RankSyncOptions {
  ReductionOptions reduction = {};
  bool shared_statistics = false;  // of batch norms, in every pass (nn/layers/shared_statistics.h)
};

class RankSync final : public StepSync {
 public:
  // Group and state must outlive it.
  RankSync(Group& group, State& state, const RankSyncOptions& options);
  ~RankSync() override;

  [[nodiscard]] Group* group() noexcept override { return &group_; }
  void stages_changed() override;
  void begin_epoch() override;
  void begin_step() override;
  [[nodiscard]] EpochSums& sums() noexcept override { return own_; }
  void start_beat(const Stop& stop, std::uint64_t marks) override;
  void pass(const std::function<void()>& action) override;
  [[nodiscard]] bool can_repeat_pass() const noexcept override { return false; }
  void forget_passes() override {}
  void begin_gradients() override;
  void finish_gradients() override;
  void start_sums(std::uint64_t samples) override;
  // Running statistics become the mean over the ranks.
  void finish_sums(std::uint64_t samples) override;
  [[nodiscard]] bool should_stop(const Stop&) const override { return stop_; }
  [[nodiscard]] std::uint64_t marks() const noexcept override { return marks_; }
  [[nodiscard]] std::optional<RankTimes> times() const override;
  // Of the step made last.
  [[nodiscard]] std::vector<BucketTimes> last_buckets() const { return gradients_->last_buckets(); }

 private:
  void finish_beat();

  Group& group_;
  State& state_;
  RankSyncOptions options_;
  std::unique_ptr<GradientReduction> gradients_;
  std::vector<at::Tensor> statistics_;  // running ones, that steps change
  EpochSums own_;                       // of the step under way, this rank's part
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
