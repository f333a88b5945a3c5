#include "stoker/cli/ready_text.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using TextWords = std::vector<std::string_view>;

TEST(ReadyText, HelpManualAndCompletionsHaveOne) {
  EXPECT_EQ(ready_text_name(TextWords{"--help"}), "help.txt");
  EXPECT_EQ(ready_text_name(TextWords{"help"}), "help.txt");
  EXPECT_EQ(ready_text_name(TextWords{"train", "--help"}), "help-train.txt");
  EXPECT_EQ(ready_text_name(TextWords{"train", "-h"}), "help-train.txt");
  EXPECT_EQ(ready_text_name(TextWords{"help", "eval"}), "help-eval.txt");
  EXPECT_EQ(ready_text_name(TextWords{"man"}), "stoker.1");
  EXPECT_EQ(ready_text_name(TextWords{"completion", "bash"}), "completion.bash");
}

TEST(ReadyText, OtherWordsHaveNone) {
  EXPECT_EQ(ready_text_name({}), "");
  EXPECT_EQ(ready_text_name(TextWords{"train"}), "");
  EXPECT_EQ(ready_text_name(TextWords{"train", "--data", "--help"}), "");
  EXPECT_EQ(ready_text_name(TextWords{"--color", "--help"}), "");
  EXPECT_EQ(ready_text_name(TextWords{"../x", "--help"}), "");
  EXPECT_EQ(ready_text_name(TextWords{"help", "../../etc/passwd"}), "");
}

TEST(ReadyText, IsReadFromTheBuildAndFromAnInstallation) {
  const TempFolder folder;
  const TextWords words = {"train", "--help"};
  const auto program = folder.path() / "bin";
  EXPECT_FALSE(print_ready_text(words, program));
  for (const char* place : {"lib/stoker/texts/help-train.txt", "bin/texts/help-train.txt"}) {
    folder.write(place, {'T', 'r', 'a', 'i', 'n', '\n'});
    ::testing::internal::CaptureStdout();
    const bool printed = print_ready_text(words, program);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "Train\n");
    EXPECT_TRUE(printed);
    std::filesystem::remove(folder.path() / place);
  }
}

}  // namespace
}  // namespace stoker
