// Flags of `stoker train` that say what a run validates on and what it is tested on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/cli/command.h"
#include "stoker/cli/yaml_flags.h"
#include "stoker/data/training_parts.h"

namespace stoker {

struct ValidationFlags {
  std::string data, test_data;
  std::string split = "auto";  // or test
  std::uint32_t every = 0;     // 0: not asked for
  double fraction = kDefaultValidationFraction;
  std::uint64_t seed = 0;
  std::uint32_t folds = 0;  // 0: no cross-validation
  int fold = -1;            // -1: all of them

  void add_to(const Command& command);
  // Settings of a run that is resumed. Runs of before there were three splits validated on the test
  // part where there was no validation part; they still do.
  void note_run_settings(const std::string& yaml);
  // Throws Error where flags exclude one another; those of the command line are checked there.
  void check() const;
  [[nodiscard]] bool wants_all_folds() const noexcept { return folds > 0 && fold < 0; }
  [[nodiscard]] TrainingRequest request(const std::string& training_data,
                                        const DataOptions& options) const;
  // What was in effect, in place of what was asked for.
  void resolve(FlagValues& values, const TrainingParts& parts) const;

 private:
  [[nodiscard]] bool fraction_given() const;
  static void keep_old_parts(TrainingRequest& request, const DataOptions& options);

  std::optional<Flag> fraction_flag_;
  bool before_three_splits_ = false;
};

}  // namespace stoker
