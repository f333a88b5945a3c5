#include "stoker/io/onnx_file.h"

#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/input_file.h"
#include "stoker/io/detail/protobuf_reader.h"
#include "stoker/io/detail/safetensors_header.h"
#include "stoker/io/detail/text.h"

namespace stoker {
namespace {

using detail::printable;
using detail::ProtoField;
using detail::ProtoReader;

// Of nodes in branches and loops; real files have two or three.
constexpr int kMostNesting = 16;

// Field numbers of onnx.proto.
namespace onnx_model {
constexpr std::uint32_t kFileVersion = 1, kProducer = 2, kProducerVersion = 3, kGraph = 7,
                        kOpset = 8, kMetadata = 14;
}
namespace onnx_graph {
constexpr std::uint32_t kNode = 1, kName = 2, kConstant = 5, kInput = 11, kOutput = 12;
}
namespace onnx_node {
constexpr std::uint32_t kOperation = 4, kAttribute = 5, kDomain = 7, kGraph = 6, kGraphs = 11;
}
namespace onnx_tensor {
constexpr std::uint32_t kDimension = 1, kType = 2, kName = 8, kBytes = 9, kLocation = 14;
}

struct OnnxType {
  std::string_view name;
  std::uint64_t bytes = 0;  // 0: not of a whole number
  bool is_floating = false;
};
// TensorProto.DataType, by number.
constexpr std::array<OnnxType, 17> kTypes = {{{},
                                              {"F32", 4, true},
                                              {"U8", 1},
                                              {"I8", 1},
                                              {"U16", 2},
                                              {"I16", 2},
                                              {"I32", 4},
                                              {"I64", 8},
                                              {"text", 0},
                                              {"BOOL", 1},
                                              {"F16", 2, true},
                                              {"F64", 8, true},
                                              {"U32", 4},
                                              {"U64", 8},
                                              {"C64", 8},
                                              {"C128", 16},
                                              {"BF16", 2, true}}};

std::optional<OnnxType> type_of(std::int64_t number) {
  if (number < 1 || number >= static_cast<std::int64_t>(kTypes.size())) return std::nullopt;
  return kTypes[static_cast<std::size_t>(number)];
}
std::string type_text(std::int64_t number) {
  if (number == 0) return {};
  const auto type = type_of(number);
  return type ? std::string(type->name) : fmt::format("type {}", number);
}

template <typename Visit>
void each_field(ProtoReader reader, const Visit& visit) {
  while (const auto field = reader.next()) visit(reader, *field);
}

// Both fields of OperatorSetIdProto and of StringStringEntryProto are these.
constexpr std::uint32_t kFirst = 1, kSecond = 2;

std::string read_dimension(const ProtoReader& reader) {
  std::string text = "?";
  each_field(reader, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == kFirst) text = fmt::format("{}", at.integer(field));
    if (field.number == kSecond && !at.text(field).empty()) text = at.text(field);
  });
  return text;
}

// TypeProto.Tensor
void read_tensor_type(const ProtoReader& reader, OnnxPort& port) {
  each_field(reader, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == kFirst) port.type = type_text(at.integer(field));
    if (field.number != kSecond) return;
    each_field(at.message(field), [&](const ProtoReader& shape, const ProtoField& dimension) {
      if (dimension.number != 1) return;
      if (port.shape.size() == detail::kMaxDimensions) {
        shape.fail(fmt::format("at most {} sizes", detail::kMaxDimensions), "more");
      }
      port.shape.push_back(read_dimension(shape.message(dimension)));
    });
  });
}

OnnxPort read_port(const ProtoReader& reader) {
  OnnxPort port;
  each_field(reader, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == kFirst) port.name = at.text(field);
    if (field.number != kSecond) return;
    each_field(at.message(field), [&](const ProtoReader& type, const ProtoField& kind) {
      if (kind.number == 1) read_tensor_type(type.message(kind), port);
    });
  });
  return port;
}

// The number of values; Error where a size is negative or the product beyond 2⁶².
std::uint64_t count_values(const OnnxTensorFacts& tensor, const ProtoReader& at) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t values = 1;
  for (const std::int64_t size : tensor.shape) {
    const bool fits = size >= 0 && (size == 0 || values <= kMost / size);
    if (!fits) at.fail("sizes from 0 on whose product fits", fmt::format("{}", size));
    values *= size;
  }
  return static_cast<std::uint64_t>(values);
}

OnnxTensorFacts read_tensor(const ProtoReader& reader) {
  OnnxTensorFacts tensor;
  std::int64_t type = 0;
  std::optional<std::uint64_t> bytes;
  each_field(reader, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == onnx_tensor::kDimension) {
      at.integers(field, detail::kMaxDimensions, tensor.shape);
    }
    if (field.number == onnx_tensor::kType) type = at.integer(field);
    if (field.number == onnx_tensor::kName) tensor.name = at.text(field);
    if (field.number == onnx_tensor::kBytes) bytes = at.text(field).size();
    if (field.number == onnx_tensor::kLocation) tensor.is_elsewhere = at.integer(field) == 1;
  });
  tensor.type = type_text(type);
  tensor.values = count_values(tensor, reader);
  const auto known = type_of(type);
  tensor.is_floating = known && known->is_floating;
  // Of no bytes, the values are in fields of their type, or elsewhere.
  const bool is_sized = bytes && known && known->bytes > 0;
  if (is_sized && (*bytes % known->bytes != 0 || tensor.values != *bytes / known->bytes)) {
    reader.fail(
        fmt::format("{} values of {} in {}", tensor.values, known->name, printable(tensor.name)),
        fmt::format("{} bytes", *bytes));
  }
  return tensor;
}

void count_operators(const ProtoReader& graph, int nesting, OnnxFacts& facts);

void count_node(const ProtoReader& node, int nesting, OnnxFacts& facts) {
  std::string operation, domain;
  each_field(node, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == onnx_node::kOperation) operation = at.text(field);
    if (field.number == onnx_node::kDomain) domain = at.text(field);
    if (field.number != onnx_node::kAttribute) return;
    each_field(at.message(field), [&](const ProtoReader& attribute, const ProtoField& value) {
      if (value.number != onnx_node::kGraph && value.number != onnx_node::kGraphs) return;
      count_operators(attribute.message(value), nesting + 1, facts);
    });
  });
  if (operation.empty()) node.fail("an operator for each node", "none");
  const bool is_own = domain.empty() || domain == "ai.onnx";
  ++facts.operators[is_own ? operation : fmt::format("{}.{}", domain, operation)];
}

void count_operators(const ProtoReader& graph, int nesting, OnnxFacts& facts) {
  if (nesting > kMostNesting) {
    graph.fail(fmt::format("at most {} graphs within each other", kMostNesting), "more");
  }
  each_field(graph, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == onnx_graph::kNode) count_node(at.message(field), nesting, facts);
  });
}

void read_graph(const ProtoReader& graph, OnnxFacts& facts) {
  each_field(graph, [&](const ProtoReader& at, const ProtoField& field) {
    switch (field.number) {
      case onnx_graph::kName:
        facts.graph = at.text(field);
        break;
      case onnx_graph::kConstant:
        facts.tensors.push_back(read_tensor(at.message(field)));
        break;
      case onnx_graph::kInput:
        facts.inputs.push_back(read_port(at.message(field)));
        break;
      case onnx_graph::kOutput:
        facts.outputs.push_back(read_port(at.message(field)));
        break;
      default:
        break;
    }
  });
  count_operators(graph, /*nesting=*/0, facts);
  // Files of early versions list constants as inputs too.
  std::set<std::string_view> constants;
  for (const OnnxTensorFacts& tensor : facts.tensors) constants.insert(tensor.name);
  std::erase_if(facts.inputs, [&](const OnnxPort& port) { return constants.contains(port.name); });
}

// A domain with its version, or a key with its value.
void read_opset(const ProtoReader& reader, OnnxFacts& facts) {
  std::string domain;
  std::int64_t version = 0;
  each_field(reader, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == kFirst) domain = at.text(field);
    if (field.number == kSecond) version = at.integer(field);
  });
  facts.opsets[domain == "ai.onnx" ? "" : domain] = version;
}

void read_metadata(const ProtoReader& reader, OnnxFacts& facts) {
  std::string key, value;
  each_field(reader, [&](const ProtoReader& at, const ProtoField& field) {
    if (field.number == kFirst) key = at.text(field);
    if (field.number == kSecond) value = at.text(field);
  });
  facts.metadata[key] = std::move(value);
}

}  // namespace

std::size_t OnnxFacts::nodes() const {
  std::size_t all = 0;
  for (const auto& [name, count] : operators) all += count;
  return all;
}

std::uint64_t OnnxFacts::parameters() const {
  std::uint64_t all = 0;
  for (const OnnxTensorFacts& tensor : tensors) {
    if (tensor.is_floating) all += tensor.values;
  }
  return all;
}

OnnxFacts parse_onnx_facts(std::span<const std::byte> bytes, const std::string& name) {
  const std::string what = "the ONNX file";
  const ProtoReader model(bytes, bytes, what, name);
  OnnxFacts facts;
  bool has_graph = false;
  std::string producer_version;
  each_field(model, [&](const ProtoReader& at, const ProtoField& field) {
    switch (field.number) {
      case onnx_model::kFileVersion:
        facts.file_version = at.integer(field);
        break;
      case onnx_model::kProducer:
        facts.producer = at.text(field);
        break;
      case onnx_model::kProducerVersion:
        producer_version = at.text(field);
        break;
      case onnx_model::kGraph:
        if (std::exchange(has_graph, true)) at.fail("one graph", "two");
        read_graph(at.message(field), facts);
        break;
      case onnx_model::kOpset:
        read_opset(at.message(field), facts);
        break;
      case onnx_model::kMetadata:
        read_metadata(at.message(field), facts);
        break;
      default:
        break;
    }
  });
  if (!has_graph || facts.opsets.empty()) {
    model.fail("a graph and the version of its operators", has_graph ? "no version" : "no graph");
  }
  if (!producer_version.empty()) facts.producer += " " + producer_version;
  return facts;
}

OnnxFacts read_onnx_facts(const std::filesystem::path& path) {
  const FileBytes file(path);
  return parse_onnx_facts(file.bytes(), path.string());
}

}  // namespace stoker
