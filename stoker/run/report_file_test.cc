#include "stoker/run/report_file.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/run/prediction_file.h"

namespace stoker {
namespace {

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

class RunFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    put("results.csv", "epoch,val_top1,seconds\n1,0.5,2.0\n2,oops,3.0\n");
    put("args.yaml", "data: \"d\"\nmodel: \"m\"\naa: none\nmean: [0.1, 0.2]\n");
  }
  void put(const char* name, const std::string& text) { folder_.write(name, bytes_of(text)); }
  [[nodiscard]] RunReport read() const { return read_run(folder_.path()); }

  TempFolder folder_;
};

TEST_F(RunFiles, TheTableAndTheSettingsSuffice) {
  const RunReport run = read();
  EXPECT_EQ(run.data, "d");
  EXPECT_EQ(run.model, "m");
  EXPECT_EQ(run.augmentation, "");
  ASSERT_EQ(run.settings.size(), 4u);
  EXPECT_EQ(run.settings[3].second, "0.1,0.2");
  EXPECT_EQ(run.results.rows(), 2u);
  EXPECT_TRUE(std::isnan(run.results.find("val_top1")->at(1)));
}

TEST_F(RunFiles, PredictionsBecomeConfusionAndCalibration) {
  put("run.json", R"({"classes":["a","b"],"state":"finished","data":{"name":"x"}})");
  PredictionTable table{.epoch = 1};
  table.add(0, std::vector<float>{0.9F, 0.1F}, 0.1F);
  table.add(0, std::vector<float>{0.3F, 0.7F}, 1.2F);
  table.add(1, std::vector<float>{0.0F, 1.0F}, 0);
  table.add(-1, std::vector<float>{0.5F, 0.5F}, 0);
  write_predictions(folder_.path() / "predictions.safetensors", table);
  const RunReport run = read();
  EXPECT_EQ(run.data, "x");
  EXPECT_EQ(run.judged_epoch, 2u);
  EXPECT_EQ(run.confusion, (std::vector<std::int64_t>{1, 1, 0, 1}));
  ASSERT_EQ(run.calibration.size(), 10u);
  EXPECT_EQ(run.calibration[9].samples, 1);  // 1.0; 0.9F lies a little below 0.9
  EXPECT_EQ(run.calibration[6].accuracy, 0);
}

TEST_F(RunFiles, ValuesOfTheWrongTypeAreIgnored) {
  put("run.json", R"({"classes":[1,"b"],"state":["x"],"data":7,"feed":{"ring_batches":"many"},
    "model":{"architecture":{"deep":1}},"epoch_samples":"1e9"})");
  put("pictures.json", R"({"top_losses":[5,{"label":"x","picture":[],"first":99}],"doubtful":{},
    "batch":[{"before":{"type":"svg+xml","width":-5,"data":"x"}}]})");
  const RunReport run = read();
  EXPECT_EQ(run.class_names, (std::vector<std::string>{"?", "b"}));
  EXPECT_FALSE(run.feed.known());
  EXPECT_EQ(run.epoch_samples, 0);
  ASSERT_EQ(run.top_losses.size(), 1u);
  EXPECT_EQ(run.class_name(run.top_losses[0].first), "?");
  ASSERT_EQ(run.batch.size(), 1u);
  EXPECT_EQ(run.batch[0].before.type, "png");
  EXPECT_EQ(run.batch[0].before.width, 0);
}

TEST_F(RunFiles, DamagedFilesAreNamed) {
  put("run.json", "{\"classes\":");
  EXPECT_NE(message_of([&] { static_cast<void>(read()); }).find("run.json"), std::string::npos);
}

TEST_F(RunFiles, AFolderWithoutARunIsNone) {
  const TempFolder empty;
  EXPECT_NE(message_of([&] { static_cast<void>(read_run(empty.path())); }).find("results.csv"),
            std::string::npos);
}

TEST_F(RunFiles, OneRunIsAPageAndTwoAreAComparison) {
  const auto page = folder_.path() / "r.html";
  const auto text = [&] {
    const Bytes bytes = contents_of(page);
    return std::string(bytes.begin(), bytes.end());
  };
  write_report({folder_.path().string()}, page, ReportFormat::kHtml);
  EXPECT_NE(text().find("id=\"curves\""), std::string::npos);
  write_report({folder_.path().string(), folder_.path().string()}, page, ReportFormat::kHtml);
  EXPECT_NE(text().find("2 runs compared"), std::string::npos);
}

TEST_F(RunFiles, MarkdownBringsItsImagesAlong) {
  write_report({folder_.path().string()}, folder_.path() / "r.md", ReportFormat::kMarkdown);
  EXPECT_FALSE(contents_of(folder_.path() / "r.md").empty());
  EXPECT_FALSE(contents_of(folder_.path() / "r_top1.png").empty());
}

}  // namespace
}  // namespace stoker
