#include "stoker/cuda/detail/correlation_launch.h"

namespace stoker::cuda {

STOKER_INSTANTIATE(float, float);
STOKER_INSTANTIATE(std::uint8_t, float);

}  // namespace stoker::cuda
