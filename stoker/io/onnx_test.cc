// What ONNX Runtime makes of a graph is tests/onnx_test.py's; here the file is read field by field.
#include "stoker/io/onnx.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Sizes = std::vector<std::int64_t>;

// A message of protobuf, read back: all fields of a number, as text or as integers.
struct Message {
  struct Field {
    std::uint64_t number = 0, integer = 0;
    std::string text;
  };
  std::vector<Field> fields;

  explicit Message(const std::string& bytes) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(at++));
        value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < bytes.size()) {
      const std::uint64_t tag = varint();
      Field field{.number = tag >> 3, .integer = 0, .text = {}};
      if ((tag & 7) == 0) {
        field.integer = varint();
      } else {
        EXPECT_TRUE((tag & 7) == 2 || (tag & 7) == 5);
        const std::size_t length = (tag & 7) == 2 ? varint() : 4;
        field.text = bytes.substr(at, length);
        EXPECT_EQ(field.text.size(), length);
        at += length;
      }
      fields.push_back(field);
    }
  }
  [[nodiscard]] std::vector<std::string> texts(std::uint64_t number) const {
    std::vector<std::string> found;
    for (const Field& field : fields) {
      if (field.number == number) found.push_back(field.text);
    }
    return found;
  }
  [[nodiscard]] std::vector<std::uint64_t> integers(std::uint64_t number) const {
    std::vector<std::uint64_t> found;
    for (const Field& field : fields) {
      if (field.number == number) found.push_back(field.integer);
    }
    return found;
  }
  [[nodiscard]] Message inner(std::uint64_t number) const { return Message(texts(number).at(0)); }
};

Message graph_of(const OnnxGraph& graph) { return Message(graph.encode()).inner(7); }

// "Relu(x) Relu_0"
std::string line_of(const std::string& node) {
  const Message message(node);
  std::string line = message.texts(4).at(0) + "(";
  for (const std::string& input : message.texts(1)) line += input + " ";
  return line + ") " + message.texts(2).at(0);
}

std::string last_line(const OnnxGraph& graph) { return line_of(graph_of(graph).texts(1).back()); }

// The integers of an attribute of the last node.
std::vector<std::uint64_t> attribute(const OnnxGraph& graph, const std::string& name) {
  const Message last(graph_of(graph).texts(1).back());
  for (const std::string& text : last.texts(5)) {
    const Message attribute(text);
    if (attribute.texts(1).at(0) != name) continue;
    const bool list = attribute.integers(20).at(0) == 7;
    return attribute.integers(list ? 8 : 3);
  }
  ADD_FAILURE() << "no attribute " << name;
  return {};
}

TEST(OnnxGraph, SaysWhichVersionsItNeeds) {
  const Message model(OnnxGraph("net").encode());
  EXPECT_THAT(model.integers(1), ElementsAre(8));
  EXPECT_THAT(model.inner(8).integers(2), ElementsAre(17));
  EXPECT_THAT(model.texts(2), ElementsAre("stoker"));
  EXPECT_THAT(model.inner(7).texts(2), ElementsAre("net"));
}

TEST(OnnxGraph, NodesFollowTheirInputs) {
  OnnxGraph graph("net");
  const OnnxValue x = graph.input("x", Sizes{3, 8, 8});
  const OnnxValue a = graph.node("Relu", {x});
  const OnnxValue b = graph.node("Sigmoid", {a});
  const OnnxValue c = graph.node("Add", {b, graph.node("Relu", {a})});
  graph.output("y", graph.node("Flatten", {c}), Sizes{192});
  std::vector<std::string> lines;
  for (const std::string& node : graph_of(graph).texts(1)) lines.push_back(line_of(node));
  EXPECT_THAT(lines, ElementsAre("Relu(x ) Relu_0", "Sigmoid(Relu_0 ) Sigmoid_0",
                                 "Relu(Relu_0 ) Relu_1", "Add(Sigmoid_0 Relu_1 ) Add_0",
                                 "Flatten(Add_0 ) Flatten_0", "Identity(Flatten_0 ) y"));
}

TEST(OnnxGraph, TheBatchHasNoFixedSize) {
  OnnxGraph graph("net");
  graph.output("y", graph.input("x", Sizes{3, 8, 9}), Sizes{5});
  for (const auto& [field, sizes] :
       std::vector<std::pair<int, Sizes>>{{11, {3, 8, 9}}, {12, {5}}}) {
    const Message info = graph_of(graph).inner(static_cast<std::uint64_t>(field));
    const Message tensor = info.inner(2).inner(1);
    EXPECT_THAT(tensor.integers(1), ElementsAre(1));  // F32
    const auto dimensions = tensor.inner(2).texts(1);
    ASSERT_EQ(dimensions.size(), 1 + sizes.size());
    EXPECT_THAT(Message(dimensions[0]).texts(2), ElementsAre("samples"));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_THAT(Message(dimensions[i + 1]).integers(1), ElementsAre(sizes[i]));
    }
  }
}

TEST(OnnxGraph, ConstantsKeepTypeShapeAndBytes) {
  const Bytes bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::pair<DType, int> types[] = {{DType::kF32, 1},  {DType::kU8, 2},   {DType::kI8, 3},
                                         {DType::kI16, 5},  {DType::kI32, 6},  {DType::kI64, 7},
                                         {DType::kBool, 9}, {DType::kF16, 10}, {DType::kF64, 11},
                                         {DType::kBf16, 16}};
  for (const auto& [dtype, number] : types) {
    OnnxGraph graph("net");
    const auto count = static_cast<std::int64_t>(8 / dtype_bytes(dtype));
    graph.constant({.name = "w", .dtype = dtype, .shape = {count, 1}, .bytes = as_span(bytes)});
    const Message tensor = graph_of(graph).inner(5);
    EXPECT_THAT(tensor.integers(1), ElementsAre(count, 1));
    EXPECT_THAT(tensor.integers(2), ElementsAre(number));
    EXPECT_THAT(tensor.texts(8), ElementsAre("w"));
    EXPECT_THAT(tensor.texts(9), ElementsAre(std::string(bytes.begin(), bytes.end())));
  }
}

TEST(OnnxGraph, AttributesKeepTheirTypes) {
  OnnxGraph graph("net");
  (void)graph.node(
      "Conv", {{"x"}, {""}, {"w"}},
      {{"strides", Sizes{2, 3}}, {"group", std::int64_t{4}}, {"mode", "edge"}, {"e", 0.5F}});
  EXPECT_EQ(last_line(graph), "Conv(x  w ) Conv_0");
  EXPECT_THAT(attribute(graph, "strides"), ElementsAre(2, 3));
  EXPECT_THAT(attribute(graph, "group"), ElementsAre(4));
  const auto attributes = Message(graph_of(graph).texts(1).back()).texts(5);
  ASSERT_EQ(attributes.size(), 4U);
  EXPECT_THAT(Message(attributes[2]).texts(4), ElementsAre("edge"));
  EXPECT_THAT(Message(attributes[2]).integers(20), ElementsAre(3));
  EXPECT_THAT(Message(attributes[3]).integers(20), ElementsAre(1));
}

TEST(OnnxGraph, AnOperatorMayHaveSeveralResults) {
  OnnxGraph graph("net");
  const std::vector<OnnxValue> x = {{"x"}};
  const std::vector<OnnxValue> parts = graph.nodes("Split", x, {}, 3);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[2].name, "Split_0_part_2");
  EXPECT_THAT(Message(graph_of(graph).texts(1).back()).texts(2),
              ElementsAre("Split_0_part_0", "Split_0_part_1", "Split_0_part_2"));
}

TEST(OnnxGraph, MetadataIsSortedAndTheBytesAreTheSame) {
  const auto encoded = [](bool first) {
    OnnxGraph graph("net");
    if (first) graph.metadata("b", "2");
    graph.metadata("a", "größe");
    if (!first) graph.metadata("b", "2");
    return graph.encode();
  };
  EXPECT_EQ(encoded(true), encoded(false));
  const auto entries = Message(encoded(true)).texts(14);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_THAT(Message(entries[0]).texts(1), ElementsAre("a"));
  EXPECT_THAT(Message(entries[0]).texts(2), ElementsAre("größe"));
}

TEST(OnnxGraph, NamesComeOnceAndBytesFitTheShape) {
  const Bytes bytes(8);
  const TensorView view{.name = "w", .dtype = DType::kF32, .shape = {2}, .bytes = as_span(bytes)};
  OnnxGraph graph("net");
  (void)graph.constant(view);
  EXPECT_THAT(message_of([&] { (void)graph.constant(view); }), HasSubstr("\"w\""));
  EXPECT_THAT(message_of([&] { (void)graph.input("w", Sizes{1}); }), HasSubstr("\"w\""));
  EXPECT_THAT(message_of([&] { (void)graph.input("", Sizes{1}); }), HasSubstr("a name of its own"));
  TensorView wrong = view;
  wrong.name = "v";
  wrong.shape = {3};
  EXPECT_THAT(message_of([&] { (void)graph.constant(wrong); }), HasSubstr("got 8"));
  EXPECT_THAT(message_of([&] { graph.metadata("k", "\xFF"); }), HasSubstr("UTF-8"));
}

TEST(OnnxGraph, ANodeTakesNoNameThatIsThere) {
  OnnxGraph graph("net");
  const OnnxValue x = graph.input("Relu_0", Sizes{1});
  EXPECT_EQ(graph.node("Relu", {x}).name, "Relu_1");
}

}  // namespace
}  // namespace stoker
