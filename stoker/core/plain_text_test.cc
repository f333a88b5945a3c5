#include "stoker/core/plain_text.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(PlainText, KeepsLettersAndShowsWhatATerminalWouldObey) {
  EXPECT_EQ(plain_text("Löwe, 狮子"), "Löwe, 狮子");
  EXPECT_EQ(plain_text("\x1b[2J\n"), "\\x1b[2J\\x0a");
  EXPECT_EQ(plain_text("\xc2\x9b"
                       "2J"),
            "\\xc2\\x9b2J")
      << "the one-character form of ESC [";
  EXPECT_EQ(plain_text("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(plain_text(std::string_view("\0", 1)), "\\x00");
}

TEST(PlainText, KnowsUtf8) {
  for (const char* text : {"", "a", "größe", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC2\x80",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << plain_text(text);
  }
  EXPECT_TRUE(is_utf8(std::string(1, '\0')));
}

TEST(PlainText, KnowsWhatIsNotUtf8) {
  for (const char* text : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3",
                           "\xC3"
                           "a",
                           "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
                           "\xE2\x82", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xFF", "ok\xFE", "\xF0\x9F\x98"}) {
    EXPECT_FALSE(is_utf8(text)) << plain_text(text);
  }
}

TEST(PlainText, LinesKeepTheirEndsAndTabs) {
  EXPECT_EQ(plain_lines("a\tb\n  c"), "a\tb\n  c");
  EXPECT_EQ(plain_lines("\x1b]0;x\x07\r\n"), "\\x1b]0;x\\x07\\x0d\n");
}

TEST(PlainText, CutsBetweenCharacters) {
  EXPECT_EQ(plain_text("abcdef", 3), "abc …");
  EXPECT_EQ(plain_text("abc", 3), "abc");
  EXPECT_EQ(plain_text("äöü", 3), "äö …");
}

}  // namespace
}  // namespace stoker
