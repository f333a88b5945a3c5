#include "stoker/nn/graph/graph_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/io/test_exported_programs.h"

namespace stoker {
namespace {

using testing::HasSubstr;

ExportedGraph parsed_graph(const std::string& json) {
  return parse_exported_graph(json, "net.pt2");
}

std::string layout_refusal(const std::string& json, const std::string& head = "") {
  const ExportedGraph graph = parsed_graph(json);
  return message_of([&] { static_cast<void>(lay_out(graph, head, "net.pt2")); });
}

// The small network with another head.
std::string with_head(std::string_view input, std::string_view bias) {
  const std::string head = exported::node(
      "torch.ops.aten.linear.default",
      exported::joined({exported::argument("input", input),
                        exported::argument("weight", exported::tensor("p_fc_weight")),
                        exported::argument("bias", bias)}),
      exported::tensor("linear"), "fc");
  return exported::model_json(
      exported::joined({exported::conv_node(), exported::count_node(), exported::norm_node(),
                        exported::pool_nodes(), head}));
}

constexpr std::string_view kNone = R"({"as_none":true})";

TEST(GraphLayout, HasStagesAndAHead) {
  const ExportedGraph graph = parsed_graph(exported::model_json());
  const GraphLayout layout = lay_out(graph, "", "net.pt2");
  EXPECT_EQ(layout.head_name, "fc");
  EXPECT_EQ(layout.body_end, 6U);
  ASSERT_EQ(layout.stages.size(), 2U);
  EXPECT_EQ(layout.stages[0].name, "conv");
  EXPECT_EQ(layout.stages[1].name, "bn");
}

TEST(GraphLayout, AHeadThatIsNotThereIsRefusedWithTheLinearLayers) {
  EXPECT_THAT(layout_refusal(exported::model_json(), "classifier"),
              HasSubstr("cannot find the head of the exported network: net.pt2. Expected a linear "
                        "layer classifier, got none. Name it with `head`: fc"));
  const std::string nodes = exported::joined({exported::conv_node(), exported::count_node(),
                                              exported::norm_node(), exported::pool_nodes()});
  EXPECT_THAT(
      layout_refusal(exported::model_json(nodes, exported::good_inputs(), "flat"), "classifier"),
      HasSubstr("The network has no linear layer"));
}

TEST(GraphLayout, AHeadNeedsABiasAndATensor) {
  EXPECT_THAT(layout_refusal(with_head(exported::tensor("flat"), kNone)),
              HasSubstr("a parameter as bias of the head, got none"));
  EXPECT_THAT(layout_refusal(with_head(kNone, exported::tensor("p_fc_bias"))),
              HasSubstr("a linear layer of a tensor, got of none"));
}

TEST(GraphLayout, ANetworkOfAHeadAloneIsRefused) {
  const std::string flat =
      exported::node("torch.ops.aten.flatten.using_ints",
                     exported::joined({exported::argument("self", exported::tensor("x")),
                                       exported::argument("start_dim", R"({"as_int":1})")}),
                     exported::tensor("flat"));
  const std::string inputs = exported::joined(
      {exported::parameter("p_fc_weight", "fc.weight"), exported::parameter("p_fc_bias", "fc.bias"),
       R"({"user_input":{"arg":{"as_tensor":{"name":"x"}}}})"});
  EXPECT_THAT(
      layout_refusal(exported::model_json(exported::joined({flat, exported::head_node()}), inputs)),
      HasSubstr("Expected weights in front of the head, got none"));
}

}  // namespace
}  // namespace stoker
