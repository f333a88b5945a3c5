#include "stoker/report/html.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

std::string encoded(std::string_view text) { return base64(std::as_bytes(std::span(text))); }

TEST(EscapeHtml, TakesTheMeaningFromMarkup) {
  EXPECT_EQ(escape_html("<script>alert('1')</script>"),
            "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
  EXPECT_EQ(escape_html("\" onload=\"x&y"), "&quot; onload=&quot;x&amp;y");
}

TEST(EscapeHtml, ShowsControlCharactersAsOneSign) {
  EXPECT_EQ(escape_html("a\n\x1b[31mb\x7f"), "a\uFFFD\uFFFD[31mb\uFFFD");
}

TEST(EscapeHtml, KeepsOtherText) { EXPECT_EQ(escape_html("Löwenzahn 1.jpg"), "Löwenzahn 1.jpg"); }

// The examples of RFC 4648.
TEST(Base64, PadsToFours) {
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Base64, HasTheLastTwoDigits) { EXPECT_EQ(encoded("\xFB\xEF\xFF"), "++//"); }

TEST(Html, APathMayBreakBehindItsSlashes) {
  EXPECT_EQ(path_html("a/b & c/d.png"), "a/<wbr>b &amp; c/<wbr>d.png");
  EXPECT_EQ(path_html("</b>"), "&lt;/<wbr>b&gt;");
}

}  // namespace
}  // namespace stoker
