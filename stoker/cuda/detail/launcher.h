// For .cu files: the Launcher that starts kernels on a stream, and the checks before a launch.
#pragma once

#include <cuda_runtime.h>

#include "stoker/cuda/detail/check_launch.h"
#include "stoker/cuda/dispatch.h"
#include "stoker/cuda/launch.h"

namespace stoker::cuda::detail {

struct DeviceLauncher {
  const char* operation;
  cudaStream_t stream;

  template <class... Parameters, class... Arguments>
  void operator()(void (*kernel)(Parameters...), LaunchSize grid, LaunchSize block,
                  const Arguments&... arguments) const {
    kernel<<<dim3(grid.x, grid.y), dim3(block.x, block.y), 0, stream>>>(arguments...);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) fail_launch(operation, cudaGetErrorString(error));
  }
};

}  // namespace stoker::cuda::detail
