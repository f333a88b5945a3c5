#include "stoker/run/run_input.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

class RunColumns : public testing::Test {
 protected:
  void put(const std::string& yaml) const {
    folder_.write("run/args.yaml", Bytes(yaml.begin(), yaml.end()));
    folder_.write("run/weights/best.safetensors", {});
  }
  [[nodiscard]] TableColumns with(const TableColumns& given,
                                  const fs::path& weights = "run") const {
    return with_run_columns(given, folder_.path() / weights);
  }

  TempFolder folder_;
};

TEST_F(RunColumns, AreThoseOfTheRunWhereNoneAreGiven) {
  put("data: t.csv\nlabels: \"a,\\\"b,c\\\"\"\ntarget: \"\"\npath-column: where\nepochs: 3\n");
  const TableColumns expected{.path = "where", .labels = {"a", "b,c"}};
  EXPECT_EQ(with({}), expected);
  EXPECT_EQ(with({}, "run/weights/best.safetensors"), expected);
}

TEST_F(RunColumns, GivenOnesWinAndLabelsOfOneKindReplaceOthers) {
  put("label: kind\nsplit-column: part\nweight-column: w\n");
  EXPECT_EQ(with({.split = "none", .targets = {"x"}}),
            (TableColumns{.split = "none", .weight = "w", .targets = {"x"}}));
}

TEST_F(RunColumns, OfOtherWeightsAreAsGiven) {
  folder_.write("x/model.safetensors", {});
  EXPECT_EQ(with({.label = "l"}, "x/model.safetensors"), (TableColumns{.label = "l"}));
  put("model: resnet18\nlabel:\n");  // another program's settings
  EXPECT_EQ(with({.path = "p"}), (TableColumns{.path = "p"}));
}

}  // namespace
}  // namespace stoker
