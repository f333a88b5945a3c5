#include "stoker/cli/stack_limit.h"

#include <algorithm>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// The usual limit, and the least with which every command works (tests/surroundings_test.py).
constexpr rlim_t kUsual = rlim_t{8} << 20, kLeast = rlim_t{1} << 20;

// New threads have the limit of the process's start as their size.
void set_size_of_threads(rlim_t bytes) {
  pthread_attr_t attributes;
  if (::pthread_getattr_default_np(&attributes) != 0) return;
  ::pthread_attr_setstacksize(&attributes, bytes);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace

void provide_stack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min(limit.rlim_max, kUsual);
  if (limit.rlim_cur < kLeast || ::setrlimit(RLIMIT_STACK, &limit) != 0) {
    throw Error({.what = "the stack of this process is too small",
                 .expected = fmt::format("a limit of at least {} KB", kLeast >> 10),
                 .found = fmt::format("{} KB", before >> 10),
                 .hint = "Raise it: ulimit -s 8192."});
  }
  set_size_of_threads(limit.rlim_cur);
}

}  // namespace stoker
