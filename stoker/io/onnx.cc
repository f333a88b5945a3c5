#include "stoker/io/onnx.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/core/plain_text.h"
#include "stoker/io/detail/protobuf.h"
#include "stoker/io/detail/text.h"

namespace stoker {
namespace {

using detail::printable;
using detail::ProtoMessage;

// The first version of the file format that has operators of version 17.
constexpr std::int64_t kFileVersion = 8, kOperatorVersion = 17;
constexpr std::uint64_t kMaxFileBytes = std::numeric_limits<std::int32_t>::max();

// Field numbers of onnx.proto.
namespace model {
constexpr int kFileVersion = 1, kProducer = 2, kGraph = 7, kOperators = 8, kMetadata = 14;
}
namespace graph {
constexpr int kNode = 1, kName = 2, kConstant = 5, kInput = 11, kOutput = 12;
}
namespace proto_node {
constexpr int kInput = 1, kOutput = 2, kName = 3, kOperation = 4, kAttribute = 5;
}
namespace attribute {
constexpr int kName = 1, kFloat = 2, kInteger = 3, kText = 4, kIntegers = 8, kType = 20;
constexpr std::int64_t kFloatType = 1, kIntegerType = 2, kTextType = 3, kIntegersType = 7;
}  // namespace attribute
namespace tensor {
constexpr int kDimension = 1, kType = 2, kName = 8, kBytes = 9;
}

std::int64_t type_number(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 1;
    case DType::kU8:
      return 2;
    case DType::kI8:
      return 3;
    case DType::kI16:
      return 5;
    case DType::kI32:
      return 6;
    case DType::kI64:
      return 7;
    case DType::kBool:
      return 9;
    case DType::kF16:
      return 10;
    case DType::kF64:
      return 11;
    case DType::kBf16:
      return 16;
  }
  STOKER_INVARIANT(false, "type {}", static_cast<int>(dtype));
}

[[noreturn]] void fail(std::string expected, std::string found, std::string hint) {
  throw Error({.what = "cannot make the ONNX graph",
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

// "samples" for the batch, then the sizes of a sample.
std::string value_info(const std::string& name, std::span<const std::int64_t> sample_shape,
                       DType dtype = DType::kF32) {
  constexpr int kSize = 1, kSizeName = 2;
  ProtoMessage shape;
  const auto add_dimension = [&](const ProtoMessage& dimension) {
    shape.add_message(1, dimension);
  };
  ProtoMessage batch;
  batch.add_text(kSizeName, "samples");
  add_dimension(batch);
  for (const std::int64_t size : sample_shape) {
    ProtoMessage dimension;
    dimension.add_integer(kSize, size);
    add_dimension(dimension);
  }
  ProtoMessage tensor_type;
  tensor_type.add_integer(1, type_number(dtype));
  tensor_type.add_message(2, shape);
  ProtoMessage type, info;
  type.add_message(1, tensor_type);
  info.add_text(1, name);
  info.add_message(2, type);
  return std::move(info).bytes();
}

ProtoMessage key_and_value(const std::string& key, const std::string& value) {
  ProtoMessage entry;
  entry.add_text(1, key);
  entry.add_text(2, value);
  return entry;
}

ProtoMessage encode_attribute(const OnnxAttribute& one) {
  ProtoMessage out;
  out.add_text(attribute::kName, one.name);
  if (const auto* real = std::get_if<float>(&one.value)) {
    out.add_float(attribute::kFloat, *real);
    out.add_integer(attribute::kType, attribute::kFloatType);
  } else if (const auto* integer = std::get_if<std::int64_t>(&one.value)) {
    out.add_integer(attribute::kInteger, *integer);
    out.add_integer(attribute::kType, attribute::kIntegerType);
  } else if (const auto* text = std::get_if<std::string>(&one.value)) {
    out.add_text(attribute::kText, *text);
    out.add_integer(attribute::kType, attribute::kTextType);
  } else {
    for (const std::int64_t value : std::get<std::vector<std::int64_t>>(one.value)) {
      out.add_integer(attribute::kIntegers, value);
    }
    out.add_integer(attribute::kType, attribute::kIntegersType);
  }
  return out;
}

}  // namespace

OnnxGraph::OnnxGraph(std::string name) : name_(std::move(name)) {}

void OnnxGraph::take_name(const std::string& name) {
  if (!name.empty() && is_utf8(name) && names_.insert(name).second) return;
  fail("a name of its own, in UTF-8, for each value", printable(name), "Choose another name.");
}

std::string OnnxGraph::fresh_name(std::string_view operation) {
  std::string name;
  do {
    name = fmt::format("{}_{}", operation, counts_[std::string(operation)]++);
  } while (names_.contains(name));
  return name;
}

OnnxValue OnnxGraph::input(const std::string& name, std::span<const std::int64_t> sample_shape,
                           DType type) {
  take_name(name);
  inputs_.push_back(value_info(name, sample_shape, type));
  return {name};
}

// The node's name is the output's: an identity gives a value another one.
void OnnxGraph::output(const std::string& name, const OnnxValue& value,
                       std::span<const std::int64_t> sample_shape) {
  take_name(name);
  ProtoMessage out;
  out.add_text(proto_node::kInput, value.name);
  out.add_text(proto_node::kOutput, name);
  out.add_text(proto_node::kName, name);
  out.add_text(proto_node::kOperation, "Identity");
  nodes_.push_back(std::move(out).bytes());
  outputs_.push_back(value_info(name, sample_shape));
}

OnnxValue OnnxGraph::constant(const TensorView& view) {
  take_name(view.name);
  const auto bytes = tensor_bytes(view.dtype, view.shape);
  if (bytes != view.bytes.size()) {
    fail(fmt::format("the bytes of {} as {} ({})", printable(view.name), dtype_name(view.dtype),
                     fmt::join(view.shape, ", ")),
         fmt::format("{}", view.bytes.size()), "Pass the whole tensor, contiguous.");
  }
  ProtoMessage out;
  for (const std::int64_t size : view.shape) out.add_integer(tensor::kDimension, size);
  out.add_integer(tensor::kType, type_number(view.dtype));
  out.add_text(tensor::kName, view.name);
  out.add_text(tensor::kBytes,
               {reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size()});
  constants_.push_back(std::move(out).bytes());
  return {view.name};
}

OnnxValue OnnxGraph::constant(const std::string& name, std::span<const std::int64_t> values) {
  return constant({.name = name,
                   .dtype = DType::kI64,
                   .shape = {static_cast<std::int64_t>(values.size())},
                   .bytes = std::as_bytes(values)});
}

OnnxValue OnnxGraph::constant(const std::string& name, std::span<const float> values,
                              std::span<const std::int64_t> shape) {
  return constant({.name = name,
                   .dtype = DType::kF32,
                   .shape = {shape.begin(), shape.end()},
                   .bytes = std::as_bytes(values)});
}

std::vector<OnnxValue> OnnxGraph::nodes(std::string_view operation,
                                        std::span<const OnnxValue> inputs,
                                        std::span<const OnnxAttribute> attributes,
                                        std::size_t results) {
  ProtoMessage out;
  std::vector<OnnxValue> made;
  const std::string name = fresh_name(operation);
  for (std::size_t i = 0; i < results; ++i) {
    made.push_back({results == 1 ? name : fmt::format("{}_part_{}", name, i)});
    take_name(made.back().name);
  }
  for (const OnnxValue& input : inputs) out.add_text(proto_node::kInput, input.name);
  for (const OnnxValue& result : made) out.add_text(proto_node::kOutput, result.name);
  out.add_text(proto_node::kName, name);
  out.add_text(proto_node::kOperation, operation);
  for (const OnnxAttribute& one : attributes) {
    out.add_message(proto_node::kAttribute, encode_attribute(one));
  }
  nodes_.push_back(std::move(out).bytes());
  return made;
}

OnnxValue OnnxGraph::node(std::string_view operation, std::span<const OnnxValue> inputs,
                          std::span<const OnnxAttribute> attributes) {
  return nodes(operation, inputs, attributes, 1).front();
}

OnnxValue OnnxGraph::node(std::string_view operation, std::initializer_list<OnnxValue> inputs,
                          std::initializer_list<OnnxAttribute> attributes) {
  return node(operation, std::span(inputs.begin(), inputs.size()),
              std::span(attributes.begin(), attributes.size()));
}

void OnnxGraph::metadata(const std::string& key, const std::string& value) {
  if (!is_utf8(key) || !is_utf8(value)) {
    fail("text in UTF-8 beside the graph", fmt::format("{}: {}", printable(key), printable(value)),
         "Convert the text to UTF-8, e.g. with iconv.");
  }
  metadata_[key] = value;
}

std::string OnnxGraph::encode() const {
  std::uint64_t bytes = 0;
  for (const std::string& message : constants_) bytes += message.size();
  if (bytes > kMaxFileBytes - (1 << 24)) {
    fail(fmt::format("a file of at most {} bytes, as the format has it", kMaxFileBytes),
         fmt::format("{} bytes of weights", bytes), "Write safetensors instead.");
  }
  ProtoMessage body, out, operators;
  const auto add_all = [&](int field, const std::vector<std::string>& messages) {
    for (const std::string& message : messages) body.add_text(field, message);
  };
  add_all(graph::kNode, nodes_);
  body.add_text(graph::kName, name_);
  add_all(graph::kConstant, constants_);
  add_all(graph::kInput, inputs_);
  add_all(graph::kOutput, outputs_);
  operators.add_integer(2, kOperatorVersion);
  out.add_integer(model::kFileVersion, kFileVersion);
  out.add_text(model::kProducer, "stoker");
  out.add_message(model::kGraph, body);
  out.add_message(model::kOperators, operators);
  for (const auto& [key, value] : metadata_) {
    out.add_message(model::kMetadata, key_and_value(key, value));
  }
  return std::move(out).bytes();
}

void OnnxGraph::write(const std::filesystem::path& path) const {
  write_whole_file(path, encode(), "ONNX file");
}

}  // namespace stoker
