// The operators on tensors, for any device: what they take, and their calls for each type and
// image. A Backend has the functions correlation, sobel, maximum and gram on planes; the stable
// part of LibTorch is all that this needs.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include "stoker/core/error.h"
#include "stoker/kernels/plane.h"

namespace stoker::detail {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

inline std::vector<std::int64_t> shape_of(const Tensor& tensor) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) sizes.push_back(tensor.size(i));
  return sizes;
}

[[noreturn]] inline void refuse(const char* operation, std::string expected, std::string found) {
  throw Error({.what = fmt::format("stoker::{} cannot take these tensors", operation),
               .expected = std::move(expected),
               .found = std::move(found)});
}

inline std::string type_name(ScalarType type) { return torch::headeronly::toString(type); }

// The result's type, for images and weights of these types; refuses pairs that no kernel is for.
inline ScalarType check_types(const char* operation, ScalarType image, ScalarType weights,
                              bool integers) {
  const bool floats = weights == ScalarType::Float || weights == ScalarType::Double;
  const bool whole = integers && weights == ScalarType::Int;
  const bool bytes = image == ScalarType::Byte && weights != ScalarType::Double;
  if ((floats || whole) && (image == weights || bytes)) return weights;
  refuse(operation,
         fmt::format(
             "images and weights of float or double{}, or images of uint8 with weights of float{}",
             integers ? " or int32" : "", integers ? " or int32" : ""),
         fmt::format("{} and {}", type_name(image), type_name(weights)));
}

// Dimensions and types only: what is known of tensors whose sizes are symbols, too.
inline ScalarType check_filter_kinds(const char* operation, const Tensor& image,
                                     const Tensor& weights, bool integers) {
  if (image.dim() < 2 || weights.dim() != 2) {
    refuse(operation, "images of two or more dimensions and weights of two",
           fmt::format("{} and {}", image.dim(), weights.dim()));
  }
  return check_types(operation, image.scalar_type(), weights.scalar_type(), integers);
}

inline ScalarType check_filter_arguments(const char* operation, const Tensor& image,
                                         const Tensor& weights, bool integers) {
  const ScalarType type = check_filter_kinds(operation, image, weights, integers);
  if (weights.size(0) % 2 == 0 || weights.size(1) % 2 == 0) {
    refuse(operation, "weights with odd sides",
           fmt::format("{}", fmt::join(shape_of(weights), "×")));
  }
  for (std::int64_t i = 0; i < image.dim(); ++i) {
    if (image.size(i) > std::numeric_limits<int>::max()) {
      refuse(operation, "sides below 2^31", fmt::format("{}", image.size(i)));
    }
  }
  return type;
}

inline void check_maximum_type(const Tensor& tensor) {
  const auto type = tensor.scalar_type();
  if (type != ScalarType::Byte && type != ScalarType::Int && type != ScalarType::Long) {
    refuse("maximum", "whole numbers: uint8, int32 or int64", type_name(type));
  }
}

inline void check_maximum_arguments(const Tensor& a, const Tensor& b) {
  if (shape_of(a) != shape_of(b) || a.scalar_type() != b.scalar_type()) {
    refuse("maximum", "two tensors of the same shape and type",
           fmt::format("{} {} and {} {}", type_name(a.scalar_type()), fmt::join(shape_of(a), "×"),
                       type_name(b.scalar_type()), fmt::join(shape_of(b), "×")));
  }
  check_maximum_type(a);
}

inline void check_gram_kind(const Tensor& x) {
  const auto type = x.scalar_type();
  if (x.dim() != 2 || (type != ScalarType::Float && type != ScalarType::Double)) {
    refuse("gram", "a matrix of float or double",
           fmt::format("{} of {} dimensions", type_name(type), x.dim()));
  }
}

// Images are the last two dimensions; those before count them. Calls run(out, image) for each.
template <class In, class T, class Run>
void for_each_image(const Tensor& out, const Tensor& image, Run&& run) {
  const int rows = static_cast<int>(image.size(image.dim() - 2));
  const int columns = static_cast<int>(image.size(image.dim() - 1));
  const std::int64_t size = std::int64_t{rows} * columns;
  if (size == 0) return;
  const auto* from = static_cast<const In*>(image.const_data_ptr());
  auto* to = static_cast<T*>(out.mutable_data_ptr());
  for (std::int64_t first = 0; first < image.numel(); first += size) {
    run(Plane<T>(to + first, rows, columns), Plane<const In>(from + first, rows, columns));
  }
}

template <class T>
Plane<const T> matrix_of(const Tensor& tensor) {
  return {static_cast<const T*>(tensor.const_data_ptr()), static_cast<int>(tensor.size(0)),
          static_cast<int>(tensor.size(1))};
}

// Calls body.operator()<In, T>() with the C++ types of images and weights, which check_types
// allowed.
template <bool Integers, class Body>
void with_types(ScalarType image, ScalarType weights, Body&& body) {
  if (weights == ScalarType::Double) return body.template operator()<double, double>();
  const bool bytes = image == ScalarType::Byte;
  if constexpr (Integers) {
    if (weights == ScalarType::Int) {
      return bytes ? body.template operator()<std::uint8_t, std::int32_t>()
                   : body.template operator()<std::int32_t, std::int32_t>();
    }
  }
  return bytes ? body.template operator()<std::uint8_t, float>()
               : body.template operator()<float, float>();
}

template <class Backend>
Tensor run_correlation(const Tensor& image_given, const Tensor& kernel_given) {
  const auto type = check_filter_arguments("correlation", image_given, kernel_given, true);
  const Tensor image = torch::stable::contiguous(image_given),
               kernel = torch::stable::contiguous(kernel_given);
  Tensor out = torch::stable::new_empty(image, shape_of(image), type);
  const Backend backend(image);
  with_types<true>(image.scalar_type(), type, [&]<class In, class T>() {
    for_each_image<In, T>(out, image, [&](const Plane<T>& to, const Plane<const In>& from) {
      backend.correlation(to, from, matrix_of<T>(kernel), kernel.is_cpu());
    });
  });
  return out;
}

template <class Backend>
Tensor run_sobel(const Tensor& image_given, const Tensor& filter_given) {
  const auto type = check_filter_arguments("sobel", image_given, filter_given, false);
  const Tensor image = torch::stable::contiguous(image_given),
               filter = torch::stable::contiguous(filter_given);
  Tensor out = torch::stable::new_empty(image, shape_of(image), type);
  const Backend backend(image);
  with_types<false>(image.scalar_type(), type, [&]<class In, class T>() {
    for_each_image<In, T>(out, image, [&](const Plane<T>& to, const Plane<const In>& from) {
      backend.sobel(to, from, matrix_of<T>(filter), filter.is_cpu());
    });
  });
  return out;
}

template <class Backend, class T>
void maximum_of(const Backend& backend, const Tensor& out, const Tensor& a, const Tensor& b) {
  constexpr std::int64_t kRun = 1 << 30;  // planes count with int
  for (std::int64_t first = 0; first < a.numel(); first += kRun) {
    const int count = static_cast<int>(std::min(kRun, a.numel() - first));
    backend.maximum(Plane<T>(static_cast<T*>(out.mutable_data_ptr()) + first, 1, count),
                    Plane<const T>(static_cast<const T*>(a.const_data_ptr()) + first, 1, count),
                    Plane<const T>(static_cast<const T*>(b.const_data_ptr()) + first, 1, count));
  }
}

template <class Backend>
Tensor run_maximum(const Tensor& a_given, const Tensor& b_given) {
  check_maximum_arguments(a_given, b_given);
  const Tensor a = torch::stable::contiguous(a_given), b = torch::stable::contiguous(b_given);
  Tensor out = torch::stable::new_empty(a, shape_of(a), a.scalar_type());
  const Backend backend(a);
  const auto type = a.scalar_type();
  if (type == ScalarType::Byte) maximum_of<Backend, std::uint8_t>(backend, out, a, b);
  if (type == ScalarType::Int) maximum_of<Backend, std::int32_t>(backend, out, a, b);
  if (type == ScalarType::Long) maximum_of<Backend, std::int64_t>(backend, out, a, b);
  return out;
}

template <class Backend>
Tensor run_gram(const Tensor& given) {
  check_gram_kind(given);
  const Tensor x = torch::stable::contiguous(given);
  Tensor out = torch::stable::new_empty(x, {x.size(0), x.size(0)}, x.scalar_type());
  const Backend backend(x);
  const int rows = static_cast<int>(x.size(0));
  if (x.scalar_type() == ScalarType::Float) {
    backend.gram(Plane<float>(static_cast<float*>(out.mutable_data_ptr()), rows, rows),
                 matrix_of<float>(x));
  } else {
    backend.gram(Plane<double>(static_cast<double*>(out.mutable_data_ptr()), rows, rows),
                 matrix_of<double>(x));
  }
  return out;
}

}  // namespace stoker::detail
