#include "stoker/io/exported_program.h"

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/io/exported_operators.h"
#include "stoker/io/test_exported_programs.h"

namespace stoker {
namespace {

using testing::HasSubstr;
using testing::Not;

ExportedProgram parse(const Bytes& bytes) {
  return parse_exported_program(std::as_bytes(std::span(bytes)), "net.pt2");
}

std::string refusal(const exported::Records& records) {
  const Bytes bytes = pickles::zip_of(records);
  try {
    static_cast<void>(parse(bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}
std::string graph_refusal(const std::string& nodes,
                          const std::string& inputs = exported::good_inputs()) {
  return refusal(exported::good_records(exported::model_json(nodes, inputs)));
}

// The small network with one part of its text changed.
std::string changed_refusal(const std::string& part, const std::string& other) {
  std::string json = exported::model_json();
  json.replace(json.find(part), part.size(), other);
  return refusal(exported::good_records(json));
}

TEST(ExportedProgram, ReadsGraphAndTensors) {
  const Bytes bytes = exported::good_file();
  const ExportedProgram program = parse(bytes);
  const ExportedGraph& graph = program.graph();
  ASSERT_EQ(graph.nodes.size(), 7U);
  EXPECT_EQ(graph.nodes[0].target, "aten::conv2d");
  EXPECT_EQ(graph.nodes[0].module, "conv");
  EXPECT_EQ(graph.nodes[1].target, "aten::add_.Tensor");
  EXPECT_EQ(graph.values[graph.output.value].name, "linear");
  ASSERT_EQ(graph.inputs.size(), 9U);
  EXPECT_EQ(graph.inputs[8].kind, GraphInput::Kind::kImages);
  ASSERT_EQ(program.tensors().size(), 8U);
  EXPECT_EQ(program.tensors()[0].view.name, "conv.weight");
  EXPECT_EQ(program.tensors()[0].view.shape, (std::vector<std::int64_t>{4, 3, 3, 3}));
  EXPECT_EQ(program.tensors()[7].view.dtype, DType::kI64);
  EXPECT_THAT(program.facts(), HasSubstr("tiny"));
}

TEST(ExportedProgram, ItsTextIsTheSameGraphWithoutTraces) {
  const Bytes bytes = exported::good_file();
  const ExportedProgram program = parse(bytes);
  EXPECT_THAT(program.graph().text, Not(HasSubstr("secret")));
  const ExportedGraph again = parse_exported_graph(program.graph().text, "again");
  EXPECT_EQ(again.text, program.graph().text);
  EXPECT_EQ(again.nodes.size(), program.graph().nodes.size());
  // Stacks of modules stay, and none is made up where a node has none.
  std::string json = exported::model_json();
  const std::string stack = R"("nn_module_stack":"L,,Net;M,conv,T",)";
  json.replace(json.find(stack), stack.size(), "");
  const Bytes without_stack = pickles::zip_of(exported::good_records(json));
  const ExportedProgram without = parse(without_stack);
  EXPECT_THAT(program.graph().text, HasSubstr("M,conv,T"));
  EXPECT_THAT(without.graph().text, Not(HasSubstr("M,conv,T")));
  EXPECT_THAT(without.graph().text, HasSubstr(R"("metadata":{})"));
}

TEST(ExportedProgram, TensorsWithStridesBecomeRows) {
  auto weights = exported::good_weights();
  weights[3] =
      exported::weight_line("fc.weight", "w3", exported::ints({5, 4}), exported::ints({1, 5}));
  const Bytes bytes = pickles::zip_of(exported::good_records(exported::model_json(), weights));
  const ExportedProgram program = parse(bytes);
  float second = 0;
  std::memcpy(&second, program.tensors()[3].view.bytes.data() + 4, 4);
  EXPECT_FLOAT_EQ(second, 0.1F + 0.05F);
}

TEST(ExportedProgram, UnknownOperatorsAreRefusedByName) {
  EXPECT_THAT(graph_refusal(exported::conv_node("torch.ops.aten.from_file.default")),
              HasSubstr("from_file"));
  EXPECT_THAT(graph_refusal(exported::conv_node("torch.ops.mylib.run.default")),
              HasSubstr("mylib"));
  EXPECT_THAT(graph_refusal(exported::conv_node("os.system")), HasSubstr("os.system"));
  EXPECT_THAT(graph_refusal(exported::conv_node("_operator.pow")), HasSubstr("_operator.pow"));
  EXPECT_FALSE(is_exported_operator("aten::from_file"));
}

TEST(ExportedProgram, CyclesAndUndefinedNamesAreRefused) {
  EXPECT_THAT(graph_refusal(exported::conv_node("torch.ops.aten.conv2d.default", "conv2d")),
              HasSubstr("defined before"));
  EXPECT_THAT(graph_refusal(exported::joined({exported::head_node(), exported::conv_node()})),
              HasSubstr("\"flat\""));
  EXPECT_THAT(graph_refusal(exported::joined({exported::conv_node(), exported::conv_node()})),
              HasSubstr("twice"));
}

TEST(ExportedProgram, LyingShapesAreRefused) {
  for (const char* sizes : {R"([{"as_int":5},{"as_int":400}])", R"([{"as_int":-1},{"as_int":4}])",
                            R"([{"as_int":4611686018427387904},{"as_int":4}])",
                            R"([{"as_expr":"x"},{"as_int":4}])", "7"}) {
    auto weights = exported::good_weights();
    weights[3] = exported::weight_line("fc.weight", "w3", sizes, exported::ints({4, 1}));
    EXPECT_THAT(refusal(exported::good_records(exported::model_json(), weights)),
                HasSubstr("fc.weight"))
        << sizes;
  }
}

TEST(ExportedProgram, SharedAndPickledWeightsAreRefused) {
  auto weights = exported::good_weights();
  weights[2] = exported::weight_line("bn.bias", "w1", exported::ints({4}), exported::ints({1}));
  EXPECT_THAT(refusal(exported::good_records(exported::model_json(), weights)),
              HasSubstr("shares"));
  weights = exported::good_weights();
  weights[2] =
      exported::weight_line("bn.bias", "w2", exported::ints({4}), exported::ints({1}), 7, true);
  EXPECT_THAT(refusal(exported::good_records(exported::model_json(), weights)),
              HasSubstr("pickle"));
}

TEST(ExportedProgram, MissingPartsAreNamed) {
  auto records = exported::good_records();
  records.erase(records.begin() + 2);
  EXPECT_THAT(refusal(records), HasSubstr("w0"));
  records = exported::good_records();
  records.erase(records.begin());
  EXPECT_THAT(refusal(records), HasSubstr("models/model.json"));
  EXPECT_THAT(refusal(exported::good_records(R"({"graph_module":{}})")), HasSubstr("signature"));
  EXPECT_THAT(refusal(exported::good_records("{")), HasSubstr("JSON"));
  EXPECT_THAT(graph_refusal(exported::good_nodes(), exported::parameter("p", "p")),
              HasSubstr("images"));
}

TEST(ExportedProgram, DeepAndLongTextsEndEarly) {
  EXPECT_THAT(refusal(exported::good_records(std::string(1'000'000, '['))), HasSubstr("nesting"));
  std::string many = "[";
  for (int i = 0; i < 5'000'000; ++i) many += "0,";
  EXPECT_THAT(refusal(exported::good_records(many + "0]")), HasSubstr("values"));
}

TEST(ExportedProgram, ArgumentsOfOtherKindsAreRefused) {
  const std::string one = R"({"as_int":1})", yes = R"({"as_bool":true})";
  EXPECT_THAT(changed_refusal(R"({"as_float":0.1})", R"({"as_float":"a tenth"})"),
              HasSubstr(R"(a number as "momentum" of aten::batch_norm)"));
  EXPECT_THAT(changed_refusal(yes, R"({"as_bool":1})"), HasSubstr("true or false as \"training\""));
  EXPECT_THAT(changed_refusal(R"({"as_ints":[1,1]})", R"({"as_ints":1})"),
              HasSubstr("a list as \"padding\""));
  for (const auto& [other, expected] : std::vector<std::pair<const char*, const char*>>{
           {R"({"as_int":"1"})", "an integer as \"other\""},
           {R"({"as_sym_int":{"as_expr":"s0"}})", "an integer or the name of one"},
           {R"({"as_sym_int":{"as_name":"x"}})", "an integer, got \"x\", which is a tensor"},
           {R"({"as_memory_format":3})", "a memory format of images"},
           {R"({"as_scalar_type":9})", "a type of real numbers"},
           {R"({"as_optional_tensors":[{"as_int":1}]})", "a tensor or none"},
           {R"({"as_string":1})", "an argument of a known kind"},
           {R"({"as_graph":{}})", "an argument of a known kind"},
           {R"([1])", "an object of one key"}}) {
    EXPECT_THAT(changed_refusal(one, other), HasSubstr(expected)) << other;
  }
}

TEST(ExportedProgram, ResultsOfOtherKindsAreRefused) {
  const std::string result = exported::tensor("conv2d");
  EXPECT_THAT(changed_refusal(result, R"({"as_int":1})"),
              HasSubstr("a tensor, a list of them or an integer as output of aten::conv2d"));
  EXPECT_THAT(changed_refusal(result, R"({"as_sym_int":{"as_name":"conv2d"}})"),
              HasSubstr("a tensor, got \"conv2d\", which is an integer"));
}

TEST(ExportedProgram, OnlyOneImageComesInAndOneTensorOut) {
  const std::string images = R"({"user_input":{"arg":{"as_tensor":{"name":"x"}}}})";
  EXPECT_THAT(changed_refusal(images, R"({"user_input":{"arg":{"as_int":3}}})"),
              HasSubstr("a network of images alone, got another argument"));
  EXPECT_THAT(
      changed_refusal(images, images + R"(,{"user_input":{"arg":{"as_tensor":{"name":"y"}}}})"),
      HasSubstr("a network of images alone, got 2 tensors as arguments"));
  EXPECT_THAT(changed_refusal(images, R"({"token":{"arg":{"name":"x"}}})"),
              HasSubstr("parameters, buffers, constants and images as inputs, got \"token\""));
  EXPECT_THAT(changed_refusal(R"("parameter_name":"bn.bias")", R"("parameter_name":"bn.weight")"),
              HasSubstr("a name for each tensor, none twice, got \"bn.weight\""));
  const std::string logits = R"({"user_output":{"arg":{"as_tensor":{"name":"linear"}}}})";
  EXPECT_THAT(changed_refusal(logits, logits + "," + logits),
              HasSubstr("one output, the logits, got 2"));
  EXPECT_THAT(changed_refusal(logits, R"({"loss_output":{"arg":{"name":"linear"}}})"),
              HasSubstr("a tensor as output, got \"loss_output\""));
  EXPECT_THAT(changed_refusal(logits, R"({"user_output":{"arg":{"as_int":1}}})"),
              HasSubstr("a tensor as output, got \"as_int\""));
}

TEST(ExportedProgram, TablesOfTensorsAreChecked) {
  const auto with_weights = [](const std::vector<std::string>& weights) {
    return refusal(exported::good_records(exported::model_json(), weights));
  };
  auto weights = exported::good_weights();
  const std::string many = exported::ints(std::vector<std::int64_t>(65, 1));
  weights[3] = exported::weight_line("fc.weight", "w3", many, many);
  EXPECT_THAT(with_weights(weights), HasSubstr("at most 64 sizes for \"fc.weight\""));
  weights = exported::good_weights();
  weights.erase(weights.begin());
  EXPECT_THAT(with_weights(weights), HasSubstr("values of \"conv.weight\", got none"));
  auto records = exported::good_records();
  records[1].second = "[]";
  EXPECT_THAT(refusal(records), HasSubstr("an object in model_weights_config.json"));
  records = exported::good_records();
  records[10] = {"net/byteorder", "big"};
  EXPECT_THAT(refusal(records), HasSubstr("values in little-endian order"));
  records = exported::good_records();
  records.emplace_back("other/models/model.json", "{}");
  EXPECT_THAT(refusal(records), HasSubstr("one models/model.json, got two"));
}

}  // namespace
}  // namespace stoker
