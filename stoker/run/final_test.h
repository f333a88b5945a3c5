// The test at the end of a run: once, with the weights of the best epoch, on data that neither
// training nor validation has seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/core/metrics_result.h"
#include "stoker/run/run_events.h"
#include "stoker/run/run_folder.h"
#include "stoker/run/train_setup.h"

namespace stoker {

struct FinalTest {
  MetricsResult metrics;
  std::uint32_t epoch = 0;  // whose weights, counted from 0
  std::int64_t top_k = 5;
  std::string origin;  // of the data
};

// The run has a test part and weights of a best epoch.
[[nodiscard]] bool can_test(const TrainSetup& setup);

// One process alone, also of several ranks. Nothing where it was asked to stop. Throws Error where
// the weights or a sample cannot be read.
[[nodiscard]] std::optional<FinalTest> run_final_test(const RunFolder& folder,
                                                      const RunSettings& settings,
                                                      const TrainSetup& setup,
                                                      const RunEvents& events);

// "top-1 97.85 %, loss 0.0712, 10000 samples (test part), weights of epoch 3"
[[nodiscard]] std::string to_text(const FinalTest& test);

}  // namespace stoker
