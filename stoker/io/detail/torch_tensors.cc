#include "stoker/io/detail/torch_tensors.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/io/detail/safetensors_header.h"
#include "stoker/io/detail/text.h"
#include "stoker/io/detail/torch_errors.h"

namespace stoker::detail {
namespace {

using Kind = PickleValue::Kind;

bool is_rebuild(std::string_view name) {
  return name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor";
}

bool is_parameter(std::string_view name) {
  return name == "torch._utils._rebuild_parameter" || name == "torch.nn.parameter.Parameter";
}

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

struct TensorMaker::Strided {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape, strides;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;  // of all values
  std::span<const std::byte> storage;
};

bool is_tensor(const Pickle& pickle, const PickleValue& value) {
  if (value.kind != Kind::kCall) return false;
  const std::string_view name = pickle.global(value);
  return is_rebuild(name) || is_parameter(name);
}

TensorMaker::TensorMaker(const Pickle& pickle, const TorchStorages& storages,
                         const TorchSource& source)
    : pickle_(pickle),
      storages_(storages),
      source_(source),
      copies_left_(4 * source.bytes.size() + (1 << 20)) {}

void TensorMaker::fail(std::string expected, std::string found) const {
  fail_torch(source_.file, source_.pickle_at,
             fmt::format("{} for tensor {}", expected, printable(name_)), std::move(found),
             kDamagedTorchFile);
}

// The tensor of a parameter: Parameter(tensor, …), on which older versions then set a state of
// three values that are not the tensor's. Other states could put another tensor in its place.
PickleValue TensorMaker::without_parameter(const PickleValue& value) const {
  if (!is_parameter(pickle_.global(value))) return value;
  const auto parts = pickle_.items(value);
  const bool plain = parts.size() == 1 || (parts.size() == 2 && parts[1].kind == Kind::kTuple &&
                                           pickle_.items(parts[1]).size() == 3);
  const auto arguments = pickle_.items(parts[0]);
  const bool fits = plain && !arguments.empty() && arguments.size() <= 3 &&
                    arguments[0].kind == Kind::kCall && is_rebuild(pickle_.global(arguments[0]));
  if (!fits) fail("a parameter made of a tensor", "something else");
  return arguments[0];
}

// (2, 3), or torch.Size((2, 3)).
std::vector<std::int64_t> TensorMaker::read_sizes(const PickleValue& value) const {
  PickleValue tuple = value;
  if (value.kind == Kind::kCall && pickle_.global(value) == "torch.Size") {
    const auto arguments = pickle_.items(pickle_.items(value)[0]);
    if (arguments.size() == 1) tuple = arguments[0];
  }
  if (tuple.kind != Kind::kTuple) {
    fail("a tuple of sizes", std::string(kind_name(tuple.kind)));
  }
  std::vector<std::int64_t> sizes;
  for (const PickleValue& size : pickle_.items(tuple)) {
    if (size.kind != Kind::kInteger || size.integer < 0) {
      fail("sizes from 0 on", size.kind == Kind::kInteger ? fmt::format("{}", size.integer)
                                                          : std::string(kind_name(size.kind)));
    }
    if (sizes.size() == kMaxDimensions)
      fail(fmt::format("at most {} sizes", kMaxDimensions), "more");
    sizes.push_back(size.integer);
  }
  return sizes;
}

// _rebuild_tensor_v2(storage, offset, shape, strides, requires_grad, hooks[, metadata]); the older
// function has the first four.
TensorMaker::Strided TensorMaker::read_call(const PickleValue& call) const {
  const auto parts = pickle_.items(call);
  const auto arguments = pickle_.items(parts[0]);
  const bool fits = parts.size() == 1 && arguments.size() >= 4 && arguments.size() <= 7 &&
                    arguments[0].kind == Kind::kPersistent && arguments[1].kind == Kind::kInteger &&
                    arguments[1].integer >= 0;
  if (!fits) fail("a storage, an offset, a shape and strides", "something else");
  // "The values count negated", for example.
  if (arguments.size() == 7 && arguments[6].kind != Kind::kNone &&
      !(arguments[6].kind == Kind::kDict && pickle_.items(arguments[6]).empty())) {
    fail("no further properties", "some");
  }
  const StorageId id = storage_id(pickle_, arguments[0], source_);
  Strided tensor{.dtype = id.dtype,
                 .shape = read_sizes(arguments[2]),
                 .strides = read_sizes(arguments[3]),
                 .offset = arguments[1].integer,
                 .storage = storages_.at(id.key).bytes.value()};
  const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
  if (tensor.shape.size() != tensor.strides.size() || !bytes) {
    fail("a stride for each size, and less than 2^63 bytes",
         fmt::format("the shape ({}) and the strides ({})", fmt::join(tensor.shape, ", "),
                     fmt::join(tensor.strides, ", ")));
  }
  tensor.bytes = *bytes;
  return tensor;
}

std::span<const std::byte> TensorMaker::in_a_row(const Strided& tensor) {
  if (tensor.bytes == 0) return {};
  const std::size_t width = dtype_bytes(tensor.dtype);
  const std::uint64_t count = tensor.storage.size() / width;
  const auto end = extent(tensor.offset, tensor.shape, tensor.strides);
  if (!end || static_cast<std::uint64_t>(*end) > count) {
    fail(fmt::format("a place in its storage of {} values", count),
         fmt::format("offset {}, shape ({}), strides ({})", tensor.offset,
                     fmt::join(tensor.shape, ", "), fmt::join(tensor.strides, ", ")));
  }
  const std::size_t begin = static_cast<std::size_t>(tensor.offset) * width;
  if (is_contiguous(tensor.shape, tensor.strides)) {
    return tensor.storage.subspan(begin, tensor.bytes);
  }
  if (tensor.bytes > copies_left_) {
    fail("tensors that look into their storages once", "that they repeat the same values");
  }
  copies_left_ -= tensor.bytes;
  std::vector<std::byte>& copy = copies_.emplace_back(tensor.bytes);
  gather(copy.data(), tensor.storage.data() + begin, tensor.shape, tensor.strides, width);
  return copy;
}

TensorView TensorMaker::make(std::string name, const PickleValue& value) {
  name_ = std::move(name);
  Strided tensor = read_call(without_parameter(value));
  const auto bytes = in_a_row(tensor);
  return {.name = name_, .dtype = tensor.dtype, .shape = std::move(tensor.shape), .bytes = bytes};
}

}  // namespace stoker::detail
