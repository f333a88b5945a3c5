#include "stoker/nn/compute_threads.h"

#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>

namespace stoker {

void for_parts(std::int64_t parts, const std::function<void(std::int64_t part)>& work,
               std::int64_t least) {
  if (parts == 1) return work(0);
  // LibTorch divides the elements of a tensor between its threads; here they are the parts.
  at::Tensor numbers = at::arange(parts, at::kLong);
  at::TensorIterator iterator = at::TensorIterator::nullary_op(numbers);
  iterator.for_each(
      [&](char** data, const std::int64_t* strides, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          work(*reinterpret_cast<const std::int64_t*>(data[0] + i * strides[0]));
        }
      },
      least);
}

}  // namespace stoker
