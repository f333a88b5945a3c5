/// \file
/// What a run validates on and what it is tested on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/setting.h"
#include "stoker/data/training_parts.h"

namespace stoker {

/// Which data validates and which tests.
struct ValidationSettings {
  std::string data, test_data;
  bool on_test_part = false;
  std::uint32_t every = 0;              ///< 0: not asked for
  std::optional<double> fraction = {};  ///< nothing: the default, where it is needed
  std::uint64_t seed = 0;
  std::uint32_t folds = 0;  ///< 0: no cross-validation
  int fold = -1;            ///< -1: all of them
  /// A resumed run that began before there were three splits: it validates on the test part where
  /// there is no validation part.
  bool before_three_splits = false;

  /// Settings of a run that is resumed, as its args.yaml has them.
  void note_run_settings(const std::string& yaml);
  /// Throws Error where settings exclude one another.
  void check() const;
  [[nodiscard]] bool wants_all_folds() const noexcept { return folds > 0 && fold < 0; }
  [[nodiscard]] TrainingRequest request(const std::string& training_data,
                                        const DataOptions& options) const;
  /// With what was in effect in place of what was asked for.
  [[nodiscard]] ValidationSettings resolved(const TrainingParts& parts) const;
  /// False for a setting that the resumed run does not know.
  [[nodiscard]] bool is_recorded(const std::string& name) const;
};

/// Their list.
[[nodiscard]] std::vector<Setting> settings_of(ValidationSettings& validation);

}  // namespace stoker
