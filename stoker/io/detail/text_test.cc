#include "stoker/io/detail/text.h"

#include <string>

#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

TEST(Text, KnowsUtf8) {
  for (const char* text : {"", "a", "größe", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC2\x80",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << printable(text);
  }
  EXPECT_TRUE(is_utf8(std::string(1, '\0')));
}

TEST(Text, KnowsWhatIsNotUtf8) {
  for (const char* text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3",
                           "\xC3"
                           "a",
                           "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
                           "\xE2\x82", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xFF", "ok\xFE", "\xF0\x9F\x98"}) {
    EXPECT_FALSE(is_utf8(text)) << printable(text);
  }
}

TEST(Text, ShowsOneLineWithoutCommands) {
  EXPECT_EQ(printable("a\n\x1B\xFF"), "\"a\\x0a\\x1b\\xff\"");
  EXPECT_LT(printable(std::string(1000, 'a')).size(), 170U);
}

}  // namespace
}  // namespace stoker::detail
