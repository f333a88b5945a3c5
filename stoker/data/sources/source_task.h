// What data asks of a network, from the fields of its samples (fields.h): without any, to classify.
#pragma once

#include <string>
#include <vector>

#include "stoker/core/task.h"
#include "stoker/data/sources/source.h"

namespace stoker {

[[nodiscard]] Task task_of(const Source& source);
// What the outputs of a network for these samples are called: classes or targets.
[[nodiscard]] const std::vector<std::string>& output_names(const Source& source);

}  // namespace stoker
