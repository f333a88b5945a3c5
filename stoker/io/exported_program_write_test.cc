#include "stoker/io/exported_program_write.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/io/test_exported_programs.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// The tests' small network, which the reader gives as Python wrote it.
class ExportedProgramWrite : public testing::Test {
 protected:
  ExportedProgramWrite() : values_(program_.graph().values.size()) {
    for (const ExportedTensor& tensor : program_.tensors()) tensors_.push_back(tensor.view);
    tensors_.emplace_back();  // the images
  }
  [[nodiscard]] ExportedProgram written() const {
    const auto path = folder_.path() / "net.pt2";
    write_exported_program(path, {program_.graph(), values_, tensors_, R"({"name":"tiny"})"});
    return ExportedProgram(path);
  }

  TempFolder folder_;
  Bytes bytes_ = exported::good_file();
  ExportedProgram program_ = parse_exported_program(std::as_bytes(std::span(bytes_)), "net.pt2");
  std::vector<ExportedValue> values_;
  std::vector<TensorView> tensors_;
};

TEST_F(ExportedProgramWrite, IsReadBackAsItWas) {
  const ExportedProgram again = written();
  const ExportedGraph &graph = program_.graph(), &copy = again.graph();
  ASSERT_EQ(copy.nodes.size(), graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &node = graph.nodes[i], &other = copy.nodes[i];
    EXPECT_EQ(other.target, node.target);
    EXPECT_EQ(other.module, node.module);
    ASSERT_EQ(other.arguments.size(), node.arguments.size());
    for (std::size_t k = 0; k < node.arguments.size(); ++k) {
      EXPECT_EQ(other.arguments[k].name, node.arguments[k].name);
      EXPECT_EQ(other.arguments[k].value.index(), node.arguments[k].value.index());
      EXPECT_EQ(other.arguments[k].by_name, node.arguments[k].by_name);
    }
  }
  ASSERT_EQ(again.tensors().size(), program_.tensors().size());
  for (std::size_t i = 0; i < tensors_.size() - 1; ++i) {
    const TensorView &tensor = tensors_[i], &other = again.tensors()[i].view;
    EXPECT_EQ(other.name, tensor.name);
    EXPECT_EQ(other.shape, tensor.shape);
    EXPECT_EQ(other.dtype, tensor.dtype);
    EXPECT_TRUE(std::ranges::equal(other.bytes, tensor.bytes)) << tensor.name;
  }
  EXPECT_EQ(again.facts(), R"({"name":"tiny"})");
}

// torch.export.load needs them; the reader here does not.
TEST_F(ExportedProgramWrite, HasWhatPythonAsksFor) {
  values_[program_.graph().output.value] = {.sizes = {{.per_sample = 1}, {.fixed = 5}},
                                            .strides = {{.fixed = 5}, {.fixed = 1}}};
  values_[0] = {.sizes = {{.fixed = 3, .per_sample = 2}}, .strides = {{.fixed = 1}}};
  const ExportedProgram again = written();
  const std::string& text = again.graph().text;
  EXPECT_THAT(text, HasSubstr(R"("kind":1,"name":"input")"));
  EXPECT_THAT(text, HasSubstr(R"("target":"torch.ops.aten.conv2d.default")"));
  const std::string batch = "Symbol('s0', positive=True, integer=True)";
  EXPECT_THAT(
      text,
      HasSubstr(fmt::format(
          R"({{"as_expr":{{"expr_str":"{}","hint":{{"as_int":2}}}}}},{{"as_int":5}}])", batch)));
  EXPECT_THAT(
      text,
      HasSubstr(fmt::format(
          R"j("expr_str":"Add(Integer(3), Mul(Integer(2), {}))","hint":{{"as_int":7}})j", batch)));
  EXPECT_THAT(text, HasSubstr(R"("range_constraints":{"s0":{"max_val":65536,"min_val":1}})"));
  EXPECT_THAT(text, HasSubstr(R"("schema_version":{"major":8,"minor":20})"));
  EXPECT_THAT(text, HasSubstr(R"("opset_version":{"aten":10})"));
}

}  // namespace
}  // namespace stoker
