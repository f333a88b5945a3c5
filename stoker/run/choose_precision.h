// What `amp` auto means here. Features of the device decide, never a measurement: the same machine
// always gives the same answer.
#pragma once

#include <string>

#include <c10/core/Device.h>

#include "stoker/nn/model.h"
#include "stoker/run/run_events.h"
#include "stoker/run/run_settings.h"
#include "stoker/train/device_list.h"

namespace stoker {

struct MixedPrecisionChoice {
  bool amp = false;
  std::string reason;  // "this CPU has AMX"
};
[[nodiscard]] MixedPrecisionChoice choose_mixed_precision(const c10::Device& device,
                                                          const CpuFacts& cpu,
                                                          const CudaFacts& cuda);

// Puts on or off in place of auto. The note says what was chosen, or that a run without mixed
// precision would be faster with it; empty where there is nothing to say. `rank_0s` gives every
// rank the text of rank 0.
[[nodiscard]] std::string resolve_amp(RunSettings& settings, const Model& model,
                                      const ShareText& rank_0s);

}  // namespace stoker
