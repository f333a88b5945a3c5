#include "stoker/distributed/detail/nccl.h"

#include <dlfcn.h>

#include "stoker/core/error.h"
#include "stoker/core/own_library.h"

namespace stoker::detail {

c10::intrusive_ptr<c10d::Backend> make_nccl_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                                    int rank, int ranks,
                                                    std::chrono::milliseconds timeout) {
  // Never closed: the objects that it makes have their code there.
  void* library = open_own_library(kNcclLibrary, RTLD_NOW | RTLD_GLOBAL);
  void* entry = library == nullptr ? nullptr : ::dlsym(library, kNcclEntry);
  if (entry == nullptr) {
    throw Error({.what = "ranks on GPUs need stoker's NCCL library",
                 .path = kNcclLibrary,
                 .found = ::dlerror(),
                 .hint = "Build it where nccl.h is, or train with `device` cpu"});
  }
  return reinterpret_cast<MakeNcclBackend*>(entry)(store, rank, ranks, timeout);
}

}  // namespace stoker::detail
