// LocalSync: this process trains alone, so there is nobody to tell anything. One thread.
#pragma once

#include <vector>

#include "stoker/train/step_sync.h"

namespace stoker {

class LocalSync final : public StepSync {
 public:
  // The state must outlive it. `shared_statistics`: batch norms compute as those of several ranks
  // (nn/layers/shared_statistics.h).
  LocalSync(State& state, bool shared_statistics)
      : state_(state), shared_statistics_(shared_statistics) {}

  [[nodiscard]] Group* group() noexcept override { return nullptr; }
  void stages_changed() override { knows_statistics_ = false; }
  void begin_epoch() override { knows_statistics_ = false; }
  void begin_step() override;
  [[nodiscard]] EpochSums& sums() noexcept override { return state_.sums; }
  void start_beat(const Stop&, std::uint64_t marks) override { marks_ = marks; }
  void pass(const std::function<void()>& action) override;
  [[nodiscard]] bool can_repeat_pass() const noexcept override { return true; }
  void forget_passes() override;
  void begin_gradients() override {}
  void finish_gradients() override {}
  void start_sums(std::uint64_t) override {}
  void finish_sums(std::uint64_t) override { in_step_ = false; }
  [[nodiscard]] bool should_stop(const Stop& stop) const override { return stop && stop(); }
  [[nodiscard]] std::uint64_t marks() const noexcept override { return marks_; }
  [[nodiscard]] std::optional<RankTimes> times() const override { return std::nullopt; }

 private:
  State& state_;
  bool shared_statistics_;
  std::uint64_t marks_ = 0;
  bool knows_statistics_ = false, in_step_ = false;
  std::vector<at::Tensor> statistics_, before_step_;  // running ones, and their copies
};

}  // namespace stoker
