#include "stoker/cli/trainer_process.h"

#include <cstdlib>
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

TEST(LibraryPath, IsPutBackForChildren) {
  ::setenv("LD_LIBRARY_PATH", "/torch/lib:/users", 1);
  ::setenv("STOKER_LIBRARY_PATH_BEFORE", "/users", 1);
  restore_library_path();
  EXPECT_STREQ(std::getenv("LD_LIBRARY_PATH"), "/users");
  EXPECT_EQ(std::getenv("STOKER_LIBRARY_PATH_BEFORE"), nullptr);

  ::setenv("STOKER_LIBRARY_PATH_BEFORE", "", 1);
  restore_library_path();
  EXPECT_EQ(std::getenv("LD_LIBRARY_PATH"), nullptr);

  ::setenv("LD_LIBRARY_PATH", "/users", 1);  // of a build, which sets nothing
  restore_library_path();
  EXPECT_STREQ(std::getenv("LD_LIBRARY_PATH"), "/users");
  ::unsetenv("LD_LIBRARY_PATH");
}

}  // namespace
}  // namespace stoker
