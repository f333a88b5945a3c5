#include "stoker/core/c_error.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(GuardedCCall, MakesAStatusAndATextOfEveryException) {
  const auto failed = [](bool is_error) { return is_error ? 1 : 2; };
  EXPECT_EQ(guarded_c_call([] { return 0; }, failed), 0);
  EXPECT_EQ(last_c_error(), "");
  EXPECT_EQ(guarded_c_call([]() -> int { throw Error({.what = "no such file"}); }, failed), 1);
  EXPECT_EQ(last_c_error(), "no such file");
  EXPECT_EQ(guarded_c_call([]() -> int { throw std::runtime_error("it is broken"); }, failed), 2);
  EXPECT_EQ(last_c_error(), "it is broken");
  EXPECT_EQ(guarded_c_call([]() -> int { throw 7; }, failed), 2);
  EXPECT_EQ(last_c_error(), "an unknown exception");
  EXPECT_EQ(guarded_c_call([] { return 0; }, failed), 0);
  EXPECT_EQ(last_c_error(), "") << "of the last call";
}

}  // namespace
}  // namespace stoker
