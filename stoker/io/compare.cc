#include "stoker/io/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "stoker/core/invariant.h"

namespace stoker {
namespace {

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = (bits >> 15) != 0 ? -1 : 1;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  // Below the smallest exponent there is no hidden bit.
  const int value = exponent == 0 ? fraction : fraction + 1024;
  return sign * std::ldexp(value, std::max(exponent, 1) - 25);
}

template <class T>
double as(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

double value_at(const TensorView& tensor, std::size_t index) {
  const std::byte* at = tensor.bytes.data() + index * dtype_bytes(tensor.dtype);
  std::uint16_t half = 0;
  switch (tensor.dtype) {
    case DType::kBool:
      return as<std::uint8_t>(at) != 0 ? 1 : 0;
    case DType::kU8:
      return as<std::uint8_t>(at);
    case DType::kI8:
      return as<std::int8_t>(at);
    case DType::kI16:
      return as<std::int16_t>(at);
    case DType::kI32:
      return as<std::int32_t>(at);
    case DType::kI64:
      return as<std::int64_t>(at);
    case DType::kF32:
      return as<float>(at);
    case DType::kF64:
      return as<double>(at);
    case DType::kF16:
      std::memcpy(&half, at, 2);
      return half_to_double(half);
    case DType::kBf16:
      std::memcpy(&half, at, 2);
      return std::bit_cast<float>(std::uint32_t{half} << 16);
  }
  STOKER_INVARIANT(false, "type {}", static_cast<int>(tensor.dtype));
}

struct Difference {
  double absolute = 0, relative = 0;
};

Difference difference(const TensorView& a, const TensorView& b) {
  Difference result;
  double largest = 0;
  const std::size_t values = a.bytes.size() / dtype_bytes(a.dtype);
  for (std::size_t i = 0; i < values; ++i) {
    const double x = value_at(a, i), y = value_at(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) {
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
      continue;
    }
    if (!std::isfinite(x) || !std::isfinite(y)) {
      const double infinite = std::numeric_limits<double>::infinity();
      return {infinite, infinite};
    }
    result.absolute = std::max(result.absolute, std::abs(x - y));
    largest = std::max({largest, std::abs(x), std::abs(y)});
  }
  if (largest > 0) result.relative = result.absolute / largest;
  return result;
}

}  // namespace

TensorComparison compare_tensors(const SafetensorsFile& a, const SafetensorsFile& b) {
  TensorComparison result;
  for (const TensorView& left : a.tensors()) {
    const TensorView* right = b.find(left.name);
    if (right == nullptr || right->dtype != left.dtype || right->shape != left.shape) {
      result.unmatched.push_back(left.name);
      continue;
    }
    ++result.compared;
    if (std::equal(left.bytes.begin(), left.bytes.end(), right->bytes.begin())) ++result.identical;
    const Difference found = difference(left, *right);
    result.max_absolute_difference = std::max(result.max_absolute_difference, found.absolute);
    if (found.relative > result.max_relative_difference) {
      result.max_relative_difference = found.relative;
      result.worst_tensor = left.name;
    }
  }
  for (const TensorView& right : b.tensors()) {
    if (a.find(right.name) == nullptr) result.unmatched.push_back(right.name);
  }
  return result;
}

}  // namespace stoker
