// What must be known of the data of a training run before it starts: files that were omitted,
// images that become black when they are read, names of classes that cannot be kept.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/data/data_identity.h"
#include "stoker/image/decode.h"

namespace stoker {

struct DataCheckOptions {
  bool skip_unknown = false;  // images that cannot be read here are omitted
  bool decode_images = true;  // not where files are not trusted to this process
  DecodeLimits limits = {};
};

// Lines for the run's log. Throws Error where files look like images and cannot be read here,
// unless they are to be skipped.
[[nodiscard]] std::vector<std::string> check_data(std::span<const DataPart> parts,
                                                  const DataCheckOptions& options);

// Throws Error where a class or target has a name that is no UTF-8: weights and reports, which are
// written after hours, cannot hold it. `data` is where the user says that the data is.
void check_class_names(const Source& source, const std::string& data);

}  // namespace stoker
