// Measures what int8 needs to know of a model, on some of the images that it was trained on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "stoker/data/sources/source.h"
#include "stoker/nn/calibration.h"
#include "stoker/run/ready_model.h"

namespace stoker {

// `images` of `source`, or all where there are fewer: always the same ones. `on_progress` gets how
// many are done. Throws Error for a network that int8 is not for, and where no image can be read.
[[nodiscard]] Calibration calibrate(const ReadyModel& ready,
                                    const std::shared_ptr<const Source>& source,
                                    std::uint64_t images,
                                    const std::function<void(std::uint64_t)>& on_progress = {});

}  // namespace stoker
