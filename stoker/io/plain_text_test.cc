#include "stoker/io/plain_text.h"

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

TEST(PlainText, CutsBetweenCharacters) {
  EXPECT_EQ(plain_text("abcdef", 3), "abc …");
  EXPECT_EQ(plain_text("abc", 3), "abc");
  EXPECT_EQ(plain_text("äöü", 3), "äö …");
}

}  // namespace
}  // namespace stoker
