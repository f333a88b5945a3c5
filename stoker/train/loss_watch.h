// LossWatch: notices that training diverges: the loss of a step is not finite, or the running mean
// of the losses stays above ten times that of the first 50 steps for 200 steps.
//
// A part of the state: what it knows is saved and read back, so a resumed run decides as an
// unbroken one. Ranks note the same sums and decide the same. note() copies one number on the
// device and waits for nothing; look() and numbers() wait for the device. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

namespace stoker {

// All that it knows of the steps so far.
struct LossWatchNumbers {
  std::uint64_t steps = 0;
  double first_loss = 0;          // of the first step
  double first_sum = 0;           // of the losses of the first 50 steps
  double mean = 0;                // running, after these
  std::uint32_t steps_above = 0;  // in a row that the mean was above the limit; stays once too many
  bool finite = true;             // all losses were
  double epoch_sum = 0;           // of the losses of all samples of the epoch so far
};

class LossWatch {
 public:
  // Of the steps between two looks.
  static constexpr std::int64_t kStepsBetweenLooks = 10;
  static constexpr std::uint64_t kFirstSteps = 50;
  static constexpr std::uint32_t kMostStepsAbove = 200;
  static constexpr double kMostGrowth = 10;

  // A mean loss below that of guessing among `classes` classes is never too large.
  explicit LossWatch(std::int64_t classes);

  // After a step of this many samples: the sum of the losses in the epoch so far, float64.
  void note(const at::Tensor& epoch_sum, std::uint64_t step_samples, bool first_of_epoch);
  // Whether to look() after step number `step`, counted from 1.
  [[nodiscard]] static bool is_time_to_look(std::uint64_t step) noexcept {
    return step % static_cast<std::uint64_t>(kStepsBetweenLooks) == 0;
  }
  // In what way the run diverged, in a phrase; nothing where it did not. To be called often enough:
  // at most kStepsBetweenLooks steps are remembered.
  [[nodiscard]] std::optional<std::string> look();
  // The same, of the last look.
  [[nodiscard]] std::optional<std::string> verdict() const;

  // Steps that were noted since the last look included.
  [[nodiscard]] LossWatchNumbers numbers() const;
  // As if these had been noted, and nothing else.
  void set(const LossWatchNumbers& numbers);

 private:
  struct Step {
    std::uint64_t samples = 0;
    bool first_of_epoch = false;
  };
  void add(LossWatchNumbers& numbers, double loss) const;
  [[nodiscard]] double limit(const LossWatchNumbers& numbers) const;

  double guessing_;  // loss of a network that knows nothing
  LossWatchNumbers numbers_;
  at::Tensor sums_;  // of the steps noted since the last look, where they are computed
  std::array<Step, static_cast<std::size_t>(kStepsBetweenLooks)> noted_{};
  std::int64_t count_ = 0;
};

}  // namespace stoker
