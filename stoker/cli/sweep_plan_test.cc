#include "stoker/cli/sweep_plan.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using Words = std::vector<std::string>;

TEST(SweepAxis, CommasInBracketsDoNotSeparate) {
  const SweepAxis axis = parse_sweep_axis("aa=none,rotate(-10,10),noise(0.1)");
  EXPECT_EQ(axis.flag, "aa");
  EXPECT_EQ(axis.values, (Words{"none", "rotate(-10,10)", "noise(0.1)"}));
}

TEST(SweepAxis, TakesTheFlagWithItsDashesToo) {
  EXPECT_EQ(parse_sweep_axis("--lr=0.1").flag, "lr");
}

TEST(SweepAxis, SaysWhatItsFormIs) {
  for (const char* text : {"workers", "=1,2", "workers=", "workers=1,,2"}) {
    EXPECT_NE(
        message_of([&] { static_cast<void>(parse_sweep_axis(text)); }).find("FLAG=VALUE,VALUE"),
        std::string::npos)
        << text;
  }
}

SweepPlan small_plan() {
  return {.axes = {{"workers", {"1", "2"}}, {"aa", {"none", "a(1,2)"}}},
          .repeat = 2,
          .train_flags = {"--data", "mnist", "--seed", "7"}};
}

TEST(SweepRuns, AreEveryCombinationInAFixedOrder) {
  const std::vector<SweepRun> runs = sweep_runs(small_plan());
  ASSERT_EQ(runs.size(), 8u);
  EXPECT_EQ(runs[0].name, "001-workers-1-aa-none-seed-7");
  EXPECT_EQ(runs[3].name, "004-workers-1-aa-a-1-2--seed-8");
  EXPECT_EQ(runs[3].arguments,
            (Words{"--data", "mnist", "--seed", "7", "--workers=1", "--aa=a(1,2)", "--seed=8"}));
  EXPECT_EQ(runs[7].name, "008-workers-2-aa-a-1-2--seed-8");
}

TEST(SweepRuns, WithoutRepeatsTheSeedIsLeftAlone) {
  SweepPlan plan = small_plan();
  plan.repeat = 1;
  EXPECT_EQ(sweep_runs(plan)[0].name, "001-workers-1-aa-none");
}

TEST(SweepRuns, RefuseWhatMakesNoSense) {
  const auto refused = [](const SweepPlan& plan) {
    return message_of([&] { static_cast<void>(sweep_runs(plan)); });
  };
  EXPECT_NE(refused({}).find("nothing to sweep over"), std::string::npos);
  SweepPlan plan = small_plan();
  plan.axes.push_back({"workers", {"4"}});
  EXPECT_NE(refused(plan).find("twice"), std::string::npos);
  plan = small_plan();
  plan.axes.push_back({"seed", {"1", "2"}});
  EXPECT_NE(refused(plan).find("both varied and repeated"), std::string::npos);
  plan = small_plan();
  plan.axes.push_back({"output", {"a", "b"}});
  EXPECT_NE(refused(plan).find("cannot take output"), std::string::npos);
  plan = small_plan();
  plan.repeat = 1'000'000;
  EXPECT_NE(refused(plan).find("too large"), std::string::npos);
  plan = small_plan();
  plan.train_flags = {"--seed=x"};
  EXPECT_NE(refused(plan).find("no number"), std::string::npos);
}

TEST(SweepPlan, ReadsBackWhatWasWritten) {
  const TempFolder folder;
  write_sweep_plan(folder.path() / "sweep.json", small_plan());
  EXPECT_EQ(read_sweep_plan(folder.path() / "sweep.json"), small_plan());
}

TEST(SweepPlan, ADamagedFileIsNamed) {
  const TempFolder folder;
  const auto path = folder.write("sweep.json", {'{', '}'});
  EXPECT_NE(message_of([&] { static_cast<void>(read_sweep_plan(path)); }).find(path.string()),
            std::string::npos);
}

TEST(SlurmScript, HasATaskForEachRunAndQuotesPaths) {
  const std::string script = slurm_script("/opt/it's/stoker", "/data/my sweep", 24);
  EXPECT_NE(script.find("--array=0-23\n"), std::string::npos);
  EXPECT_NE(script.find("exec '/opt/it'\\''s/stoker' sweep --output '/data/my sweep' --only"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker
