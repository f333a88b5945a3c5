// How far two files of tensors are from each other.
#pragma once

#include <string>
#include <vector>

#include "stoker/io/safetensors.h"

namespace stoker {

struct TensorComparison {
  // Over all tensors, the largest |a - b| of a tensor as a fraction of its largest |a| or |b|.
  // Single values are not divided by themselves, since those near 0 would say nothing. 0: equal;
  // infinity where a NaN stands against something else.
  double max_relative_difference = 0;
  double max_absolute_difference = 0;
  std::string worst_tensor;   // of the relative difference; empty where there is none
  std::size_t compared = 0;   // tensors
  std::size_t identical = 0;  // of those, the same in every byte
  // Names in one file only, or with another type or shape.
  std::vector<std::string> unmatched;
};

[[nodiscard]] TensorComparison compare_tensors(const SafetensorsFile& a, const SafetensorsFile& b);

}  // namespace stoker
