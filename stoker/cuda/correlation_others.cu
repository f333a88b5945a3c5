#include "stoker/cuda/detail/correlation_launch.h"

namespace stoker::cuda {

STOKER_INSTANTIATE(double, double);
STOKER_INSTANTIATE(std::int32_t, std::int32_t);
STOKER_INSTANTIATE(std::uint8_t, std::int32_t);

}  // namespace stoker::cuda
