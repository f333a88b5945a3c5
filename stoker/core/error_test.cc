#include "stoker/core/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/invariant.h"
#include "stoker/core/result.h"

namespace stoker {
namespace {

TEST(Error, SaysWhereWhatWasExpectedFoundAndWhatToDo) {
  const Error error({.what = "cannot read labels",
                     .path = "labels.idx",
                     .offset = 4,
                     .expected = "10",
                     .found = "9",
                     .hint = "fetch it again"});
  EXPECT_STREQ(error.what(),
               "cannot read labels: labels.idx, byte 4. Expected 10, got 9. fetch it again");
}

TEST(Error, LeavesEmptyPartsOut) {
  EXPECT_STREQ(Error({.what = "no data"}).what(), "no data");
  EXPECT_STREQ(Error({.what = "no data", .found = "nothing"}).what(), "no data: nothing");
}

TEST(Error, NamesOfFilesCannotCommandATerminal) {
  const std::string name = "\x1b]0;owned\x07\nstoker: all is well";
  const Error error({.what = "cannot read a\x1b[2J", .path = name, .found = "two\nlines \x9b"});
  EXPECT_STREQ(error.what(),
               "cannot read a\\x1b[2J: \\x1b]0;owned\\x07\\x0astoker: all is well: two\n"
               "lines \\x9b");
  EXPECT_EQ(error.details().path, name) << "a program gets the path as it is";
}

TEST(Error, CausesFollowTheMessageInnermostLast) {
  const ErrorDetails disk{.what = "cannot read file", .path = "b.bin", .found = "I/O error"};
  const ErrorDetails damaged{
      .what = "the checkpoint is damaged", .path = "a.bin", .causes = {disk}};
  const ErrorDetails other{.what = "the checkpoint is empty", .path = "c.bin"};
  const Error error({.what = "cannot resume", .hint = "start anew", .causes = {damaged, other}});
  EXPECT_STREQ(error.what(), "cannot resume. start anew");
  EXPECT_EQ(full_message(error.details()),
            "cannot resume. start anew\n"
            "  cause: the checkpoint is damaged: a.bin\n"
            "    cause: cannot read file: b.bin: I/O error\n"
            "  cause: the checkpoint is empty: c.bin");
  EXPECT_EQ(full_message({.what = "no data"}), "no data");
  EXPECT_STREQ(Error({.what = "no file. Check the path.", .hint = "Or skip it"}).what(),
               "no file. Check the path. Or skip it");
}

TEST(Error, CausesThatTheMessageTellsAreNotRepeated) {
  const ErrorDetails misfit{
      .what = "`lr` does not fit", .expected = "a number", .found = "\"fast\""};
  ErrorDetails line{.what = "cannot use line 2",
                    .path = "a.yaml",
                    .expected = "a number for lr",
                    .found = "\"fast\"",
                    .causes = {misfit}};
  EXPECT_EQ(full_message(line), to_string(line));
  line.causes.front().path = "other.yaml";
  EXPECT_EQ(full_message(line), to_string(line) + "\n  cause: " + to_string(line.causes.front()));
  line.causes = {{.what = "a.yaml", .offset = 7, .found = "fast"}};
  EXPECT_THAT(full_message(line), testing::HasSubstr("byte 7")) << "an offset is new";
  line.causes = {{.what = "fast", .causes = {{.what = "too fast"}}}};
  EXPECT_EQ(full_message(line), to_string(line) + "\n  cause: too fast") << "the cause's cause";
}

TEST(Error, AnyExceptionCanBeACause) {
  const Error ours({.what = "cannot read", .path = "a", .causes = {{.what = "inner"}}});
  EXPECT_EQ(details_of(ours).path, "a");
  EXPECT_EQ(details_of(ours).causes.front().what, "inner");
  EXPECT_EQ(details_of(std::out_of_range("too far")).what, "too far");
}

TEST(Error, InvariantNamesTheConditionAndItsValues) {
  const int a = 2;
  try {
    STOKER_INVARIANT(a == 3, "a={}", a);
    FAIL() << "did not throw";
  } catch (const InvariantError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("a == 3"));
    EXPECT_THAT(error.what(), testing::HasSubstr("a=2"));
  }
}

TEST(Result, HoldsAValueOrTheReasonWhyNot) {
  Result<int> good = 5;
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 5);
  Result<int> bad = ErrorDetails{.what = "broken"};
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().what, "broken");
  EXPECT_THROW(static_cast<void>(bad.value()), Error);
}

}  // namespace
}  // namespace stoker
