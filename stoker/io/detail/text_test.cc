#include "stoker/io/detail/text.h"

#include <string>

#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

TEST(Text, ShowsOneLineWithoutCommands) {
  EXPECT_EQ(printable("a\n\x1B\xFF"), "\"a\\x0a\\x1b\\xff\"");
  EXPECT_LT(printable(std::string(1000, 'a')).size(), 170U);
}

}  // namespace
}  // namespace stoker::detail
