#include "stoker/run/run_settings.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/run/recipes.h"
#include "stoker/run/resume_settings.h"
#include "stoker/run/train_run.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RunSettings, EachHasANameAHelpAndAGroup) {
  RunSettings run;
  std::set<std::string> names;
  for (const Setting& setting : settings_of(run)) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name << " is there twice";
    EXPECT_FALSE(setting.help.empty()) << setting.name;
    EXPECT_FALSE(setting.group.empty()) << setting.name;
    for (const std::string& text : texts_of(setting)) {
      if (setting.choices.empty()) continue;
      EXPECT_TRUE(std::ranges::count(setting.choices, text)) << setting.name << ": " << text;
    }
  }
}

TEST(RunSettings, DefaultsAreReadBackAsTheyAre) {
  RunSettings run;
  GivenSettings given;
  const std::string text = recorded_yaml(run);
  apply_run_settings(settings_of(run), given, text, "args.yaml");
  EXPECT_EQ(recorded_yaml(run), text);
  EXPECT_TRUE(request_of(RunSettings{}).given.empty());
}

// A run that is resumed may have other workers, but not another rate.
TEST(RunSettings, TheIdentityIsWhatChangesTheResult) {
  RunSettings run;
  const std::string before = identity_yaml(run);
  run.compute.workers = 7;
  run.output = "elsewhere";
  run.record.tensorboard = true;
  run.ranks.timeout = 9;
  run.train.feed.isolate = true;  // the same bytes
  EXPECT_EQ(identity_yaml(run), before);
  run.train.schedule.lr = 0.25;
  EXPECT_THAT(identity_yaml(run), HasSubstr("lr: 0.25\n"));
  EXPECT_THAT(recorded_yaml(run), HasSubstr("workers: 7\n"));
  EXPECT_THAT(recorded_yaml(run), Not(HasSubstr("timeout: 9")));
}

TEST(RunSettings, ACheckpointIsComparedWithoutWhatARunMayChangeByNow) {
  RunSettings run;
  run.data = "mnist";
  const std::string before = identity_yaml(run) + "isolate: false\nworkers: 3\n";
  EXPECT_EQ(comparable_yaml(before, run), identity_yaml(run));
  run.train.schedule.lr = 0.25;
  EXPECT_NE(comparable_yaml(before, run), identity_yaml(run));
}

TEST(RunSettings, ARunStaysInItsOutput) {
  RunSettings run;
  run.data = "mnist";
  run.experiment = "../x";
  EXPECT_THROW(run.resolve(), OptionError);
}

TEST(RunSettings, WhatDiffersFromTheDefaultsIsGiven) {
  RunSettings run;
  run.data = "mnist";
  run.auto_lr = true;
  run.freeze.all = true;
  EXPECT_THAT(request_of(run).given, ElementsAre("data", "freeze", "lr"));
}

TEST(RunSettings, EveryRecipeFits) {
  for (const Recipe& recipe : recipes()) {
    RunSettings run;
    run.train.feed.epochs = 3;
    GivenSettings given = {"epochs"};
    apply_recipe(settings_of(run), given, recipe.name);
    EXPECT_EQ(run.train.feed.epochs, 3u) << "what is given wins";
    EXPECT_GT(given.size(), 5u) << recipe.name;
  }
  RunSettings run;
  GivenSettings given;
  EXPECT_THROW(apply_recipe(settings_of(run), given, "no-such"), Error);
}

TEST(RunSettings, FrozenStagesAreAllOrANumber) {
  RunSettings run;
  const SettingText text = run.freeze.text();
  EXPECT_EQ(text.read(), "none");
  text.write("all");
  EXPECT_EQ(run.freeze.count(5), 4u);
  EXPECT_EQ(text.read(), "all");
  text.write("2");
  EXPECT_EQ(run.freeze.count(5), 2u);
  EXPECT_EQ(text.read(), "2");
  text.write("9");
  EXPECT_THROW(static_cast<void>(run.freeze.count(5)), Error);
  EXPECT_THROW(text.write("some"), Error);
}

TEST(RunSettings, WhatIsMissingIsNamed) {
  RunSettings run;
  EXPECT_THROW(run.resolve(), Error);
  run.data = "mnist";
  run.resolve();  // the network is chosen from the data
}

}  // namespace
}  // namespace stoker
