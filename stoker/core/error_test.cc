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
               "cannot read labels: labels.idx, byte 4: expected 10, found 9. fetch it again");
}

TEST(Error, LeavesEmptyPartsOut) {
  EXPECT_STREQ(Error({.what = "no data"}).what(), "no data");
  EXPECT_STREQ(Error({.what = "no data", .found = "nothing"}).what(), "no data: found nothing");
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
