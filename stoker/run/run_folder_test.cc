#include "stoker/run/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stoker/core/test_files.h"
#include "stoker/run/append_to_file.h"

namespace stoker {
namespace {

std::string text_of(const std::filesystem::path& path) {
  const Bytes bytes = contents_of(path);
  return {bytes.begin(), bytes.end()};
}

TEST(RunFolder, NamesThatAreTakenGetANumber) {
  const TempFolder temp;
  EXPECT_EQ(RunFolder::create(temp.path() / "runs", "", "mnist-mlp").path().filename(),
            "mnist-mlp");
  EXPECT_EQ(RunFolder::create(temp.path() / "runs", "", "mnist-mlp").path().filename(),
            "mnist-mlp-2");
}

TEST(RunFolder, AGivenNameMustBeNew) {
  const TempFolder temp;
  static_cast<void>(RunFolder::create(temp.path(), "mine", ""));
  const ErrorDetails error =
      error_of([&] { static_cast<void>(RunFolder::create(temp.path(), "mine", "")); });
  EXPECT_NE(error.hint.find("`resume="), std::string::npos);
}

TEST(RunFolder, OnlyOneProcessMayOwnIt) {
  const TempFolder temp;
  const RunFolder folder = RunFolder::create(temp.path(), "mine", "");
  temp.write("mine/args.yaml", {});
  const ErrorDetails error =
      error_of([&] { static_cast<void>(RunFolder::open(temp.path(), "mine")); });
  EXPECT_NE(error.found.find("another process"), std::string::npos);
}

TEST(RunFolder, IsOpenedByPathOrByName) {
  const TempFolder temp;
  temp.write("mine/args.yaml", {});
  EXPECT_EQ(RunFolder::open(temp.path(), "mine").path(), temp.path() / "mine");
  EXPECT_EQ(RunFolder::open("elsewhere", (temp.path() / "mine").string()).path(),
            temp.path() / "mine");
  EXPECT_THROW(static_cast<void>(RunFolder::open(temp.path(), "other")), Error);
}

TEST(RunFolder, WhatItSaysStaysInTheLog) {
  const TempFolder temp;
  RunFolder folder = RunFolder::create(temp.path(), "mine", "");
  folder.say("one");
  folder.say("two");
  EXPECT_EQ(text_of(folder.path() / "log.txt"), "one\ntwo\n");
}

TEST(RunFolder, TheLogHasWhatTheListenerHears) {
  const TempFolder temp;
  RunFolder folder = RunFolder::create(temp.path(), "mine", "");
  std::string heard;
  folder.listen([&](const std::string& line) { heard += line + "\n"; });
  folder.set_wording([](const std::string& line) { return "well, " + line; });
  folder.say("one");
  EXPECT_EQ(heard, "well, one\n");
  EXPECT_EQ(text_of(folder.path() / "log.txt"), heard);
}

TEST(RunFolder, StaysInTheFolderForRuns) {
  const TempFolder temp;
  const auto output = temp.path() / "runs";
  const std::string outside = (temp.path() / "x").string();
  for (const std::string& name : {std::string("../x"), std::string("a/../../x"), outside}) {
    EXPECT_THROW(static_cast<void>(RunFolder::create(output, name, "")), OptionError) << name;
    EXPECT_THROW(static_cast<void>(RunFolder::create_or_take(output, name)), OptionError) << name;
    EXPECT_THROW(static_cast<void>(RunFolder::is_there(output, name)), OptionError) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(outside));
  EXPECT_EQ(RunFolder::create(output, "a..b", "").path(), output / "a..b");
}

TEST(RunFolder, ALinkInThePlaceOfItsLogIsReplaced) {
  const TempFolder temp;
  const auto other = temp.write("other", {'a'});
  RunFolder folder = RunFolder::create(temp.path(), "mine", "");
  std::filesystem::create_symlink(other, folder.path() / "log.txt");
  folder.say("one");
  EXPECT_EQ(text_of(other), "a");
  EXPECT_EQ(text_of(folder.path() / "log.txt"), "one\n");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
  append_to_file(folder.path() / "pipe", "two\n");
  EXPECT_EQ(text_of(folder.path() / "pipe"), "two\n") << "does not wait for a reader";
}

TEST(RunFolder, NamesCannotCommandATerminalThroughTheLog) {
  const TempFolder temp;
  RunFolder folder = RunFolder::create(temp.path(), "mine", "");
  std::string heard;
  folder.listen([&](const std::string& line) { heard = line; });
  folder.say("cannot read \x1b]0;x\x07.png\nsecond line");
  EXPECT_EQ(heard, "cannot read \\x1b]0;x\\x07.png\nsecond line");
  EXPECT_EQ(text_of(folder.path() / "log.txt"), heard + "\n");
}

TEST(ResultsTable, AResumedRunReplacesTheRowsItMakesAgain) {
  const TempFolder temp;
  const auto path = temp.path() / "results.csv";
  ResultsTable table(path, "epoch,x");
  for (const std::uint32_t epoch : {0, 1, 2}) table.add(epoch, std::to_string(epoch + 1) + ",a");
  ResultsTable resumed(path, "epoch,x");
  EXPECT_EQ(resumed.read_rows_before(1), 0U);
  resumed.add(1, "2,b");
  EXPECT_EQ(text_of(path), "epoch,x\n1,a\n2,b\n");
}

TEST(ResultsTable, LostRowsAreCountedAndLeaveAGap) {
  const TempFolder temp;
  const auto path = temp.path() / "results.csv";
  ResultsTable lost(path, "epoch,x");
  EXPECT_EQ(lost.read_rows_before(2), 2U);
  for (const std::uint32_t epoch : {2, 3}) lost.add(epoch, std::to_string(epoch + 1) + ",a");
  EXPECT_EQ(text_of(path), "epoch,x\n3,a\n4,a\n");
  ResultsTable resumed(path, "epoch,x");
  EXPECT_EQ(resumed.read_rows_before(3), 2U);
  resumed.add(3, "4,b");
  EXPECT_EQ(text_of(path), "epoch,x\n3,a\n4,b\n") << "each epoch once, whatever its line";
}

}  // namespace
}  // namespace stoker
