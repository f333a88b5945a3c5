/// \file
/// Learning rates as arithmetic: the rate is a function of the optimiser step, so a resumed run has
/// the rates of the unbroken one. Only reduce-on-plateau remembers something: PlateauState, a plain
/// value that the caller owns and saves. A Schedule is constant after construction and safe from
/// any thread; a rate costs a few multiplications and is the same bits on every CPU.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

/// Which schedule.
enum class ScheduleKind { kConstant, kStep, kCosine, kOneCycle, kPlateau };

/// "constant", "step", "cosine", "onecycle", "plateau", in the order of the enum.
[[nodiscard]] std::span<const std::string> schedule_names();
/// Its name.
[[nodiscard]] std::string_view to_string(ScheduleKind kind);
/// Whether its rates depend on the number of epochs, so that a run cannot be made longer.
[[nodiscard]] bool depends_on_length(ScheduleKind kind);
/// Throws Error with all names.
[[nodiscard]] ScheduleKind parse_schedule_kind(std::string_view name);

/// Named like the flags, which are timm's. Epochs may be fractions; they are rounded to whole
/// steps.
struct ScheduleOptions {
  ScheduleKind sched = ScheduleKind::kConstant;
  double lr = 0.1;      ///< the largest rate
  double min_lr = 0.0;  ///< step, cosine and plateau never go below it

  /// Rises in a straight line from warmup_lr to lr; the schedule proper starts after it. One-cycle
  /// has its own and takes none.
  double warmup_epochs = 0.0;
  double warmup_lr = 1e-5;

  double decay_epochs = 30.0;       ///< step: how long each rate lasts
  double decay_first_epochs = 0.0;  ///< step: how long the first one lasts; 0: as each other
  double decay_rate = 0.1;          ///< step and plateau: what the rate is multiplied by

  int patience_epochs = 10;           ///< plateau: epochs without progress that are forgiven
  double plateau_threshold = 0.0001;  ///< a loss below best * (1 - this) is progress

  /// One-cycle: rises from lr / div_factor to lr in this fraction of the steps, then falls to
  /// lr / div_factor / final_div_factor in the last step.
  double pct_start = 0.3;
  double div_factor = 25.0;
  double final_div_factor = 1e4;
};

/// In steps of the optimiser: with gradient accumulation fewer than there are batches.
struct RunLength {
  std::int64_t epochs = 0;
  std::int64_t steps_per_epoch = 0;
};

/// What reduce-on-plateau remembers between epochs; part of a checkpoint.
struct PlateauState {
  double best = std::numeric_limits<double>::infinity();
  std::int64_t bad_epochs = 0;  ///< since the best one or the last reduction
  double factor = 1.0;          ///< product of all reductions so far

  bool operator==(const PlateauState&) const = default;
};

/// The learning rate of every step.
class Schedule {
 public:
  /// Throws Error where an option is out of range, the warm-up is longer than the run, or one-cycle
  /// is given a warm-up.
  Schedule(const ScheduleOptions& options, const RunLength& length);

  /// For optimiser step 0, 1, …. Steps past the end of the run keep the last value. Only plateau
  /// looks at the state.
  [[nodiscard]] double rate(std::int64_t step, const PlateauState& plateau = {}) const;

  /// The state after an epoch with this validation loss; unchanged unless the kind is plateau. NaN
  /// is no progress. As torch's ReduceLROnPlateau with a relative threshold and eps = 0.
  [[nodiscard]] PlateauState after_epoch(PlateauState state, double validation_loss) const;

 private:
  [[nodiscard]] double step_rate(std::int64_t step) const;
  [[nodiscard]] double cosine_rate(std::int64_t step) const;
  [[nodiscard]] double one_cycle_rate(std::int64_t step) const;

  ScheduleOptions options_;
  std::int64_t total_steps_ = 0;
  std::int64_t warmup_steps_ = 0;
  std::int64_t decay_steps_ = 1;
  std::int64_t first_decay_ = 1;  ///< the step at which the rate falls first
};

}  // namespace stoker
