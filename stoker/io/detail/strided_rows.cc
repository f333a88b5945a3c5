#include "stoker/io/detail/strided_rows.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace stoker::detail {
namespace {

// Whether the values lie one after the other; sizes of 1 may have any stride.
bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];  // fits: the product of all does
  }
  return true;
}

// One more than the place of the last value; nullopt where that does not fit. No size is 0.
std::optional<std::int64_t> extent(std::int64_t offset, std::span<const std::int64_t> shape,
                                   std::span<const std::int64_t> strides) {
  std::int64_t end = 0;
  if (__builtin_add_overflow(offset, 1, &end)) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      return std::nullopt;
    }
  }
  return end;
}

// Copies values with any strides into a row: the last index runs, the others move like the wheels
// of a counter. Places are numbers and not pointers, which may not step outside the storage.
void gather(std::byte* out, const std::byte* first, std::vector<std::int64_t> shape,
            std::vector<std::int64_t> strides, std::size_t value_bytes) {
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1) continue;  // its stride is never taken, and may be any number
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(i));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t row = 0;
  while (true) {
    for (std::int64_t i = 0; i < shape.back(); ++i) {
      const auto place = static_cast<std::size_t>(row + i * strides.back());
      std::memcpy(out, first + place * value_bytes, value_bytes);
      out += value_bytes;
    }
    std::size_t wheel = shape.size() - 1;
    do {
      if (wheel-- == 0) return;
      row += strides[wheel];
      if (++index[wheel] < shape[wheel]) break;
      row -= shape[wheel] * strides[wheel];
      index[wheel] = 0;
    } while (true);
  }
}

}  // namespace

StridedRows::Fault StridedRows::make(const StridedTensor& tensor, std::span<const std::byte>& row) {
  row = {};
  if (tensor.bytes == 0) return Fault::kNone;
  const std::size_t width = dtype_bytes(tensor.dtype);
  const auto end = extent(tensor.offset, tensor.shape, tensor.strides);
  if (!end || static_cast<std::uint64_t>(*end) > tensor.storage.size() / width) {
    return Fault::kOutside;
  }
  const std::size_t begin = static_cast<std::size_t>(tensor.offset) * width;
  if (is_contiguous(tensor.shape, tensor.strides)) {
    row = tensor.storage.subspan(begin, tensor.bytes);
    return Fault::kNone;
  }
  if (tensor.bytes > copies_left_) return Fault::kRepeats;
  copies_left_ -= tensor.bytes;
  std::vector<std::byte>& copy = copies_.emplace_back(tensor.bytes);
  gather(copy.data(), tensor.storage.data() + begin, tensor.shape, tensor.strides, width);
  row = copy;
  return Fault::kNone;
}

std::vector<std::int64_t> row_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<std::int64_t>(1, shape[i]);
  }
  return strides;
}

}  // namespace stoker::detail
