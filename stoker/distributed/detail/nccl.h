// c10d's NCCL backend, from a library of our own that is loaded only where there is a GPU: it needs
// LibTorch's CUDA half, which a machine without a driver cannot load.
#pragma once

#include <chrono>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stoker::detail {

// Throws Error where the library is not there.
[[nodiscard]] c10::intrusive_ptr<c10d::Backend> make_nccl_backend(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int ranks,
    std::chrono::milliseconds timeout);

// What that library gives, under the name kNcclEntry.
using MakeNcclBackend =
    c10::intrusive_ptr<c10d::Backend>(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                      int ranks, std::chrono::milliseconds timeout);
inline constexpr const char* kNcclEntry = "stoker_make_nccl_backend";
inline constexpr const char* kNcclLibrary = "libstoker_nccl.so";

}  // namespace stoker::detail
