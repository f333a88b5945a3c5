// The kernels as this machine runs them, held against their references: for `stoker devices
// --check`. Inputs are small whole numbers, whose sums are exact, so results must be equal.
#pragma once

#include <string>
#include <vector>

namespace stoker {

struct KernelCheck {
  int compared = 0;
  std::vector<std::string> different = {};  // names of what was not equal
  std::string tables = {};                  // times, as Markdown; empty: not measured
  std::string problem = {};                 // why nothing, or not everything, could be compared
};

// Correlation, Sobel, maximum and X·Xᵀ in every version that this CPU can run (simd.h). Not for use
// while other kernels run: it forces one version after another. The version that was active is
// active again at the end.
[[nodiscard]] KernelCheck check_cpu_kernels();

}  // namespace stoker
