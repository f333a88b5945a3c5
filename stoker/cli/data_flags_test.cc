#include "stoker/cli/data_flags.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(ParseCursor, ReadsEpochAndPosition) {
  EXPECT_EQ(parse_cursor("1:32000"), (Cursor{.epoch = 1, .position = 32'000}));
  EXPECT_EQ(parse_cursor("0:0"), Cursor{});
}

TEST(ParseCursor, RefusesAnythingElse) {
  for (const char* text : {"", "1", "1:", ":1", "a:b", "1:2:3", "-1:0", "1:2 ", "99999999999:0"}) {
    EXPECT_THROW(static_cast<void>(parse_cursor(text)), Error) << text;
  }
}

}  // namespace
}  // namespace stoker
