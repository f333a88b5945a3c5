#include "stoker/nn/tensor_views.h"

#include <algorithm>
#include <cstring>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"

namespace stoker {
namespace {

std::string describe(DType dtype, std::span<const std::int64_t> shape) {
  return fmt::format("{} ({})", dtype_name(dtype), fmt::join(shape, ", "));
}

[[noreturn]] void fail(const std::string& path, std::string expected, std::string found) {
  throw Error({.what = "the file does not hold this model's tensors",
               .path = path,
               .expected = std::move(expected),
               .found = std::move(found)});
}

void check_tensor(const NamedTensor& tensor, const TensorView* view, const std::string& path) {
  const std::string expected =
      fmt::format("{} as {}", tensor.name,
                  describe(dtype_of(tensor.tensor.scalar_type()), tensor.tensor.sizes()));
  if (view == nullptr) fail(path, expected, "no tensor of that name");
  if (view->dtype != dtype_of(tensor.tensor.scalar_type()) ||
      tensor.tensor.sizes() != view->shape) {
    fail(path, expected, describe(view->dtype, view->shape));
  }
}

void check_no_others(std::span<const NamedTensor> tensors, const SafetensorsFile& file,
                     const std::string& path) {
  for (const TensorView& view : file.tensors()) {
    const bool known = std::any_of(tensors.begin(), tensors.end(),
                                   [&](const NamedTensor& t) { return t.name == view.name; });
    if (!known) fail(path, fmt::format("{} tensors", tensors.size()), "also " + view.name);
  }
}

}  // namespace

DType dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return DType::kF32;
    case at::kDouble:
      return DType::kF64;
    case at::kLong:
      return DType::kI64;
    // Only in networks that Python exported, as constants.
    case at::kBool:
      return DType::kBool;
    case at::kByte:
      return DType::kU8;
    case at::kChar:
      return DType::kI8;
    case at::kShort:
      return DType::kI16;
    case at::kInt:
      return DType::kI32;
    case at::kHalf:
      return DType::kF16;
    case at::kBFloat16:
      return DType::kBf16;
    default:
      break;
  }
  STOKER_INVARIANT(false, "no tensor of ours has the type {}", toString(type));
}

at::ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return at::kBool;
    case DType::kU8:
      return at::kByte;
    case DType::kI8:
      return at::kChar;
    case DType::kI16:
      return at::kShort;
    case DType::kF16:
      return at::kHalf;
    case DType::kBf16:
      return at::kBFloat16;
    case DType::kI32:
      return at::kInt;
    case DType::kF32:
      return at::kFloat;
    case DType::kF64:
      return at::kDouble;
    case DType::kI64:
      return at::kLong;
  }
  STOKER_INVARIANT(false, "unknown type {}", static_cast<int>(dtype));
}

FileTensors::FileTensors(std::span<const NamedTensor> tensors) {
  for (const NamedTensor& named : tensors) {
    rows_.push_back(named.tensor.detach().to(at::kCPU).contiguous());
    const at::Tensor& rows = rows_.back();
    views_.push_back(
        {.name = named.name,
         .dtype = dtype_of(rows.scalar_type()),
         .shape = rows.sizes().vec(),
         .bytes = {static_cast<const std::byte*>(rows.const_data_ptr()), rows.nbytes()}});
  }
}

at::Tensor tensor_of(const TensorView& view) {
  at::Tensor tensor = at::empty(view.shape, scalar_type_of(view.dtype));
  STOKER_INVARIANT(tensor.nbytes() == view.bytes.size(), "{}: {} bytes", view.name,
                   view.bytes.size());
  if (!view.bytes.empty()) std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
  return tensor;
}

void read_tensors(std::span<const NamedTensor> tensors, const SafetensorsFile& file,
                  const std::string& path) {
  for (const NamedTensor& named : tensors) check_tensor(named, file.find(named.name), path);
  check_no_others(tensors, file, path);
  const at::NoGradGuard no_grad;
  for (const NamedTensor& named : tensors) {
    const TensorView& view = *file.find(named.name);
    // A foreign file may place values at any byte, which a tensor must not.
    const at::Tensor rows = at::empty(named.tensor.sizes(), named.tensor.options().device(at::kCPU),
                                      at::MemoryFormat::Contiguous);
    if (!view.bytes.empty()) {
      std::memcpy(rows.data_ptr(), view.bytes.data(), view.bytes.size());
    }
    at::Tensor(named.tensor).copy_(rows);
  }
}

}  // namespace stoker
