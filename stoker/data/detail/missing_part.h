// The message where data lacks the part that is asked for.
#pragma once

#include <string>

#include "stoker/data/catalog.h"

namespace stoker::detail {

[[noreturn]] void fail_missing_part(const std::string& path, Split split, const DataParts& parts);

}  // namespace stoker::detail
