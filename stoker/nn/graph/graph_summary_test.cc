#include "stoker/nn/graph/graph_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/io/test_exported_programs.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::Optional;

std::string sizes_line(const std::string& name, const std::string& sizes) {
  return fmt::format(R"("{}":{{"dtype":7,"sizes":[{}]}})", name, sizes);
}
std::string fixed(std::int64_t size) { return fmt::format(R"({{"as_int":{}}})", size); }
std::string batch_of(std::int64_t hint) {
  return fmt::format(R"({{"as_expr":{{"expr_str":"s0","hint":{}}}}})", fixed(hint));
}

// The small network of the tests, with these shapes.
GraphSummary summary_with(const std::string& tensor_values) {
  std::string json = exported::model_json();
  json.insert(json.find(R"("nodes":)"), fmt::format(R"("tensor_values":{{{}}},)", tensor_values));
  const Bytes bytes = pickles::zip_of(exported::good_records(json));
  return summarise(parse_exported_program(std::as_bytes(std::span(bytes)), "tiny.pt2"), "tiny.pt2");
}

std::string all_shapes() {
  const std::string n = batch_of(2);
  return exported::joined(
      {sizes_line("x", exported::joined({n, fixed(3), fixed(8), fixed(8)})),
       sizes_line("p_conv_weight", exported::joined({fixed(4), fixed(3), fixed(3), fixed(3)})),
       sizes_line("conv2d", exported::joined({n, fixed(4), fixed(8), fixed(8)})),
       sizes_line("batch_norm", exported::joined({n, fixed(4), fixed(8), fixed(8)})),
       sizes_line("relu_", exported::joined({n, fixed(4), fixed(8), fixed(8)})),
       sizes_line("add_", ""), sizes_line("flat", exported::joined({n, fixed(4)})),
       sizes_line("linear", exported::joined({n, fixed(5)}))});
}

TEST(GraphSummary, CountsParametersShapesAndProductsByStage) {
  const GraphSummary summary = summary_with(all_shapes());
  ASSERT_EQ(summary.stages.size(), 3U);
  EXPECT_EQ(summary.stages[0].name, "conv");
  EXPECT_EQ(summary.stages[0].parameters, 108U);
  EXPECT_THAT(summary.stages[0].output, Optional(ElementsAre(4, 8, 8)));
  EXPECT_THAT(summary.stages[0].multiply_adds, Optional(8U * 8 * 108));
  EXPECT_EQ(summary.stages[1].name, "bn");
  EXPECT_EQ(summary.stages[1].parameters, 8U);
  EXPECT_EQ(summary.stages[1].buffers, 9U);
  EXPECT_THAT(summary.stages[1].output, Optional(ElementsAre(4, 8, 8))) << "not that of the pool";
  EXPECT_EQ(summary.stages[2].name, "fc");
  EXPECT_THAT(summary.stages[2].output, Optional(ElementsAre(5)));
  EXPECT_THAT(summary.stages[2].multiply_adds, Optional(20U));
  EXPECT_EQ(summary.parameters(), 141U);
  EXPECT_EQ(summary.buffers(), 9U);
  EXPECT_THAT(summary.multiply_adds(), Optional(8U * 8 * 108 + 20));
  EXPECT_THAT(summary.image, ElementsAre(3, 8, 8));
  EXPECT_THAT(summary.classes, Optional(5));
  EXPECT_EQ(summary.operators.size(), 7U);
  EXPECT_EQ(summary.facts.name, "tiny");
}

TEST(GraphSummary, WithoutShapesNothingIsClaimed) {
  const GraphSummary summary = summary_with("");
  EXPECT_EQ(summary.parameters(), 141U);
  EXPECT_FALSE(summary.multiply_adds());
  EXPECT_FALSE(summary.stages[0].output);
  EXPECT_TRUE(summary.image.empty());
}

TEST(GraphSummary, OddShapesAreNone) {
  const std::string most = fixed(std::int64_t{1} << 40);
  const std::string huge = exported::joined({batch_of(1), most, most, most});
  const GraphSummary large = summary_with(sizes_line("x", huge) + "," + sizes_line("conv2d", huge) +
                                          "," + sizes_line("p_conv_weight", huge));
  EXPECT_FALSE(large.stages[0].multiply_adds) << "beyond 64 bits";
  EXPECT_FALSE(summary_with(sizes_line("x", R"({"as_int":-3})")).multiply_adds());
  EXPECT_FALSE(summary_with(sizes_line("x", R"({"as_expr":7},{"as_int":"1"})")).multiply_adds());
  EXPECT_FALSE(summary_with(R"("x":3)").multiply_adds());
  std::vector<std::string> many(65, fixed(1));
  EXPECT_TRUE(summary_with(sizes_line("x", exported::joined(many))).image.empty());
}

TEST(GraphSummary, ShowsHowTheLibraryPreparesImages) {
  const ExportedFacts facts = parse_exported_facts(
      R"({"name":"n","library":"timm","mean":[0.5,0.25,0],"std":[1,2,"x"],"crop":0.875,"interpolation":3})",
      "file.pt2");
  EXPECT_EQ(facts.library, "timm");
  EXPECT_THAT(facts.mean, ElementsAre(0.5, 0.25, 0));
  EXPECT_TRUE(facts.deviation.empty());
  EXPECT_TRUE(facts.interpolation.empty());
  EXPECT_THAT(facts.crop, Optional(0.875));
}

}  // namespace
}  // namespace stoker
