#include "stoker/io/onnx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/detail/protobuf.h"
#include "stoker/io/onnx.h"

namespace stoker {
namespace {

using detail::ProtoMessage;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

OnnxFacts facts_of(const std::string& bytes) {
  return parse_onnx_facts(std::as_bytes(std::span(bytes)), "net.onnx");
}

std::string onnx_refusal(const std::string& bytes) {
  try {
    static_cast<void>(facts_of(bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string small_network() {
  OnnxGraph graph("tiny");
  const OnnxValue x = graph.input("pixels", std::array<std::int64_t, 3>{3, 8, 8});
  const std::vector<float> weight(108, 0.5F), bias(4, 0.F);
  const auto first = graph.constant("conv.weight", weight, std::array<std::int64_t, 4>{4, 3, 3, 3});
  const auto second = graph.constant("conv.bias", bias, std::array<std::int64_t, 1>{4});
  const auto conv =
      graph.node("Conv", {x, first, second}, {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const auto map = graph.node("Relu", {graph.node("Relu", {conv})});
  const auto flat = graph.node("Flatten", {graph.node("GlobalAveragePool", {map})});
  graph.output("logits", flat, std::array<std::int64_t, 1>{4});
  graph.metadata("stoker.architecture", "tiny");
  return graph.encode();
}

// A model around the bytes of a graph.
std::string model_of(const ProtoMessage& graph) {
  ProtoMessage opset, model;
  opset.add_integer(2, 17);
  model.add_integer(1, 8);
  model.add_message(7, graph);
  model.add_message(8, opset);
  return model.bytes();
}

ProtoMessage tensor_of_sizes(std::span<const std::int64_t> sizes, std::size_t bytes) {
  ProtoMessage tensor;
  for (const std::int64_t size : sizes) tensor.add_integer(1, size);
  tensor.add_integer(2, 1);
  tensor.add_text(8, "w");
  tensor.add_text(9, std::string(bytes, '\0'));
  return tensor;
}

std::string model_of_tensor(const std::vector<std::int64_t>& sizes, std::size_t bytes) {
  ProtoMessage graph;
  graph.add_message(5, tensor_of_sizes(sizes, bytes));
  return model_of(graph);
}

TEST(OnnxFile, ReadsWhatOurWriterWrites) {
  const OnnxFacts facts = facts_of(small_network());
  EXPECT_EQ(facts.file_version, 8);
  EXPECT_EQ(facts.graph, "tiny");
  EXPECT_THAT(facts.opsets, ElementsAre(Pair("", 17)));
  ASSERT_EQ(facts.inputs.size(), 1U);
  EXPECT_EQ(facts.inputs[0].name, "pixels");
  EXPECT_EQ(facts.inputs[0].type, "F32");
  EXPECT_THAT(facts.inputs[0].shape, ElementsAre("samples", "3", "8", "8"));
  ASSERT_EQ(facts.outputs.size(), 1U);
  EXPECT_THAT(facts.outputs[0].shape, ElementsAre("samples", "4"));
  EXPECT_EQ(facts.operators.at("Relu"), 2U);
  EXPECT_EQ(facts.operators.at("Conv"), 1U);
  EXPECT_EQ(facts.parameters(), 112U);
  EXPECT_EQ(facts.tensors[0].name, "conv.weight");
  EXPECT_THAT(facts.metadata, ElementsAre(Pair("stoker.architecture", "tiny")));
}

TEST(OnnxFile, CountsNodesWithinNodesAndNamesForeignDomains) {
  ProtoMessage inner_node, inner, attribute, node, graph;
  inner_node.add_text(4, "Gelu");
  inner_node.add_text(7, "com.other");
  inner.add_message(1, inner_node);
  attribute.add_message(6, inner);
  node.add_text(4, "If");
  node.add_message(5, attribute);
  graph.add_message(1, node);
  const OnnxFacts facts = facts_of(model_of(graph));
  EXPECT_THAT(facts.operators, ElementsAre(Pair("If", 1), Pair("com.other.Gelu", 1)));
  EXPECT_EQ(facts.nodes(), 2U);
}

TEST(OnnxFile, ConstantsAreNoInputs) {
  ProtoMessage port, graph;
  port.add_text(1, "w");
  graph.add_message(11, port);
  graph.add_message(5, tensor_of_sizes(std::vector<std::int64_t>{2}, 8));
  EXPECT_TRUE(facts_of(model_of(graph)).inputs.empty());
}

// The last field is the metadata: without it the file is whole.
TEST(OnnxFile, EveryCutIsRefused) {
  ProtoMessage entry, model;
  entry.add_text(1, "stoker.architecture");
  entry.add_text(2, "tiny");
  model.add_message(14, entry);
  const std::string bytes = small_network();
  ASSERT_TRUE(bytes.ends_with(model.bytes()));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    if (length == bytes.size() - model.bytes().size()) continue;
    EXPECT_THAT(onnx_refusal(bytes.substr(0, length)), HasSubstr("the ONNX file: net.onnx"))
        << length;
  }
}

TEST(OnnxFile, ShapesAndBytesMustAgree) {
  EXPECT_EQ(facts_of(model_of_tensor({2, 3}, 24)).parameters(), 6U);
  EXPECT_THAT(onnx_refusal(model_of_tensor({2, 3}, 20)), HasSubstr("6 values of F32"));
  EXPECT_THAT(onnx_refusal(model_of_tensor({2, 3}, 25)), HasSubstr("6 values of F32"));
  EXPECT_THAT(onnx_refusal(model_of_tensor({-1}, 4)), HasSubstr("sizes from 0 on"));
  EXPECT_THAT(onnx_refusal(model_of_tensor({1LL << 40, 1LL << 40}, 4)), HasSubstr("product fits"));
  EXPECT_THAT(onnx_refusal(model_of_tensor(std::vector<std::int64_t>(65, 1), 4)),
              HasSubstr("at most 64 numbers"));
}

TEST(OnnxFile, AnInputHasAtMost64Sizes) {
  const auto model_with = [](int sizes) {
    ProtoMessage size, shape, tensor, type, port, graph;
    size.add_integer(1, 3);
    for (int i = 0; i < sizes; ++i) shape.add_message(1, size);
    tensor.add_message(2, shape);
    type.add_message(1, tensor);
    port.add_text(1, "x");
    port.add_message(2, type);
    graph.add_message(11, port);
    return model_of(graph);
  };
  EXPECT_EQ(facts_of(model_with(64)).inputs.at(0).shape.size(), 64U);
  EXPECT_THAT(onnx_refusal(model_with(65)), HasSubstr("at most 64 sizes"));
}

TEST(OnnxFile, DeepNestingIsRefused) {
  ProtoMessage graph;
  for (int i = 0; i < 20; ++i) {
    ProtoMessage attribute, node, outer;
    attribute.add_message(6, graph);
    node.add_text(4, "Loop");
    node.add_message(5, attribute);
    outer.add_message(1, node);
    graph = outer;
  }
  EXPECT_THAT(onnx_refusal(model_of(graph)), HasSubstr("graphs within each other"));
}

TEST(OnnxFile, RefusesOtherFiles) {
  EXPECT_THAT(onnx_refusal(""), HasSubstr("no graph"));
  EXPECT_THAT(onnx_refusal("PK\x03\x04 and so on"), HasSubstr("cannot read the ONNX file"));
  EXPECT_THAT(onnx_refusal(model_of({}) + model_of({})), HasSubstr("got two"));
  ProtoMessage node, graph;
  node.add_text(3, "nameless");
  graph.add_message(1, node);
  EXPECT_THAT(onnx_refusal(model_of(graph)), HasSubstr("an operator for each node"));
  EXPECT_THROW(static_cast<void>(read_onnx_facts("nowhere.onnx")), Error);
}

}  // namespace
}  // namespace stoker
