#include "stoker/run/run_folder.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

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

TEST(ResultsTable, AResumedRunReplacesTheRowsItMakesAgain) {
  const TempFolder temp;
  const auto path = temp.path() / "results.csv";
  ResultsTable table(path, "epoch,x");
  for (const std::uint32_t epoch : {0, 1, 2}) table.add(epoch, std::to_string(epoch + 1) + ",a");
  ResultsTable resumed(path, "epoch,x");
  resumed.read_rows_before(1);
  resumed.add(1, "2,b");
  EXPECT_EQ(text_of(path), "epoch,x\n1,a\n2,b\n");
}

}  // namespace
}  // namespace stoker
