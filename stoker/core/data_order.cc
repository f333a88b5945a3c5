#include "stoker/core/data_order.h"

namespace stoker {

std::string_view release_version() noexcept { return STOKER_VERSION; }

}  // namespace stoker
