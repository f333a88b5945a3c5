#include "stoker/train/flush_subnormals.h"

#include <cstdint>

#include <ATen/Parallel.h>

#include "stoker/nn/compute_threads.h"

namespace stoker {
namespace {

// Those that LibTorch starts later begin with the mode of this thread.
void set_compute_mode(FloatMode mode) {
  set_float_mode(mode);
  for_parts(at::get_num_threads(), [&](std::int64_t) { set_float_mode(mode); });
}

}  // namespace

FlushSubnormals::FlushSubnormals() : before_(float_mode()) {
  set_compute_mode(FloatMode::kFlushSubnormals);
}

FlushSubnormals::~FlushSubnormals() { set_compute_mode(before_); }

}  // namespace stoker
