// Where gradients vanish, most of them are subnormal, and a step takes many times as long: 15 times
// the backward pass was measured of a network whose sigmoids are saturated. They change no weight.
#pragma once

#include "stoker/core/float_mode.h"

namespace stoker {

// While it lives, subnormal floats count as 0 in this thread and in LibTorch's threads that compute
// for it: in all of them, as results must not depend on which one computes what.
class FlushSubnormals {
 public:
  FlushSubnormals();
  ~FlushSubnormals();
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  FloatMode before_;
};

}  // namespace stoker
