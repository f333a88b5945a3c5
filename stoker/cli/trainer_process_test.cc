#include "stoker/cli/trainer_process.h"

#include <vector>

#include <gtest/gtest.h>

namespace stoker {
namespace {

bool needed(std::vector<const char*> words, std::vector<const char*> environment) {
  words.insert(words.begin(), "stoker");
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  environment.push_back(nullptr);
  return needs_short_spinning(count, words.data(), environment.data());
}

TEST(OpenmpWait, CommandsThatComputeNeedShortSpinning) {
  for (const char* command : {"train", "eval", "predict", "export", "devices"}) {
    EXPECT_TRUE(needed({command, "--data", "mnist"}, {"PATH=/bin", "OMP_NUM_THREADS=2"}))
        << command;
    EXPECT_TRUE(needed({command}, {}));
  }
}

TEST(OpenmpWait, OtherCommandsAreLeftAsTheyAre) {
  EXPECT_FALSE(needed({}, {}));
  EXPECT_FALSE(needed({"--version"}, {}));
  EXPECT_FALSE(needed({"bench", "train"}, {}));
  EXPECT_FALSE(needed({"sweep", "--", "--data", "mnist"}, {})) << "its children get it";
  EXPECT_FALSE(needed({"trainer"}, {}));
  EXPECT_FALSE(needed({"train", "--help"}, {}));
}

TEST(OpenmpWait, TheUsersSettingWins) {
  EXPECT_FALSE(needed({"train"}, {"GOMP_SPINCOUNT=300000"}));
  EXPECT_FALSE(needed({"train"}, {"A=b", "OMP_WAIT_POLICY=passive"}));
  EXPECT_TRUE(needed({"train"}, {"NOT_GOMP_SPINCOUNT=1", "GOMP_SPINCOUNTS=1"}));
}

TEST(OpenmpWait, IsSetOnce) {
  EXPECT_FALSE(needed({"train"}, {"PATH=/bin", "GOMP_SPINCOUNT=10000"}));
}

}  // namespace
}  // namespace stoker
