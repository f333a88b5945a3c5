// The part of a decoded sample that a framing draws, resized.
#pragma once

#include "stoker/data/sources/source.h"

namespace stoker::detail {

// The sample itself where nothing is to be framed; else its image lies in buffer.framed.
[[nodiscard]] Sample frame_sample(const Sample& sample, const FrameRequest& request,
                                  SampleBuffer& buffer);

}  // namespace stoker::detail
