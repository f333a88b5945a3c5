// libstoker_nccl.so: see nccl.h. Compiled and linked against the CUDA half of LibTorch; no machine
// of ours has run it.
#define USE_C10D_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "stoker/distributed/detail/nccl.h"

extern "C" __attribute__((visibility("default"))) c10::intrusive_ptr<c10d::Backend>
stoker_make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
                         std::chrono::milliseconds timeout) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, ranks, options);
}

static_assert(std::is_same_v<decltype(stoker_make_nccl_backend), stoker::detail::MakeNcclBackend>);
