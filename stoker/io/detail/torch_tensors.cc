#include "stoker/io/detail/torch_tensors.h"

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

}  // namespace

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
      rows_(4 * source.bytes.size() + (1 << 20)) {}

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
StridedTensor TensorMaker::read_call(const PickleValue& call) const {
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
  StridedTensor tensor{.dtype = id.dtype,
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

std::span<const std::byte> TensorMaker::in_a_row(const StridedTensor& tensor) {
  std::span<const std::byte> row;
  switch (rows_.make(tensor, row)) {
    case StridedRows::Fault::kNone:
      break;
    case StridedRows::Fault::kOutside:
      fail(fmt::format("a place in its storage of {} values",
                       tensor.storage.size() / dtype_bytes(tensor.dtype)),
           fmt::format("offset {}, shape ({}), strides ({})", tensor.offset,
                       fmt::join(tensor.shape, ", "), fmt::join(tensor.strides, ", ")));
    case StridedRows::Fault::kRepeats:
      fail("tensors that look into their storages once", "that they repeat the same values");
  }
  return row;
}

TensorView TensorMaker::make(std::string name, const PickleValue& value) {
  name_ = std::move(name);
  StridedTensor tensor = read_call(without_parameter(value));
  const auto bytes = in_a_row(tensor);
  return {.name = name_, .dtype = tensor.dtype, .shape = std::move(tensor.shape), .bytes = bytes};
}

}  // namespace stoker::detail
