// The data-order version (core/data_order.h) in the metadata of a checkpoint: written into every
// one, and checked before a run resumes from it.
#pragma once

#include <string>

#include "stoker/core/data_order.h"
#include "stoker/io/safetensors.h"

namespace stoker {

// Adds the version, and the release that has it.
void record_data_order(SafetensorsMetadata& metadata);

// Throws Error where the checkpoint at `path` has another version than `here`: the run would
// continue with other samples or other weights. The hint names the release to use. A checkpoint
// without a version is one of 0.1, or of 0.2 before its release; both have version 1.
void check_data_order(const SafetensorsMetadata& metadata, const std::string& path,
                      int here = kDataOrderVersion);

}  // namespace stoker
