#include "stoker/data/detail/delimited_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker::detail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, char delimiter = ',') {
  DelimitedTable table(text, delimiter, "t.csv");
  Rows rows = {table.columns()};
  while (table.next()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t i = 0; i < table.columns().size(); ++i) row.emplace_back(table.cell(i));
  }
  return rows;
}

ErrorDetails error_for(std::string_view text, char delimiter = ',') {
  return error_of([&] { (void)rows_of(text, delimiter); });
}

TEST(DelimitedTable, CommasTabsAndLineEnds) {
  const Rows expected = {{"path", "label"}, {"a.png", "cat"}, {"b.png", ""}};
  EXPECT_EQ(rows_of("path,label\na.png,cat\nb.png,\n"), expected);
  EXPECT_EQ(rows_of("path,label\r\na.png,cat\r\nb.png,"), expected);
  EXPECT_EQ(rows_of("\xEF\xBB\xBFpath,label\r\na.png,cat\nb.png,\r\n"), expected);
  EXPECT_EQ(rows_of("path\tlabel\na.png\tcat\nb.png\t\n", '\t'), expected);
  EXPECT_EQ(rows_of("\n\r\npath , label\n\na.png,cat\n\n\nb.png,\n\n"), expected);
  EXPECT_EQ(rows_of("path,label"), (Rows{{"path", "label"}}));
  EXPECT_EQ(rows_of("a\tb,c\n1\t2,3\n", '\t'), (Rows{{"a", "b,c"}, {"1", "2,3"}}));
}

// Expected: python3 -c "import csv,io; print(list(csv.reader(io.StringIO(text, newline=''))))"
TEST(DelimitedTable, QuotesHoldDelimitersLineBreaksAndQuotes) {
  EXPECT_EQ(rows_of("\"a\",b\n\"x,y\",\"1\n2\r\n3\"\n\"he said \"\"no\"\"\",\"\"\n\"\"\"\",z"),
            (Rows{{"a", "b"}, {"x,y", "1\n2\r\n3"}, {"he said \"no\"", ""}, {"\"", "z"}}));
  EXPECT_EQ(rows_of("a,b\n\"\"\"x\"\"\",\"\"\"\"\"\"\n"), (Rows{{"a", "b"}, {"\"x\"", "\"\""}}));
}

TEST(DelimitedTable, AQuotedEmptyCellIsARow) {
  EXPECT_EQ(rows_of("a\n\"\"\n\nx\n"), (Rows{{"a"}, {""}, {"x"}}));
}

TEST(DelimitedTable, LinesAreThoseOfAnEditor) {
  DelimitedTable table("a,b\n\n\"1\n2\",x\n3,y\n", ',', "t.csv");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.line(), 3U);
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.line(), 5U);
  EXPECT_FALSE(table.next());
  EXPECT_FALSE(table.next());
}

TEST(DelimitedTable, AnotherNumberOfCellsIsAnErrorWithLineAndColumn) {
  const ErrorDetails few = error_for("path,label,x\na,b,c\n1,2\n");
  EXPECT_EQ(few.what, "cannot read line 3, column 2 (label) of a table");
  EXPECT_EQ(few.path, "t.csv");
  EXPECT_THAT(few.expected, HasSubstr("3 cells"));
  EXPECT_EQ(few.found, "2");
  const ErrorDetails many = error_for("path,label\na,b\n\"1\n2\",e,f\n");
  EXPECT_EQ(many.what, "cannot read line 4, column 3 of a table");
  EXPECT_THAT(many.expected, HasSubstr("2 cells"));
  EXPECT_EQ(many.found, "more");
}

TEST(DelimitedTable, BrokenQuotesAreErrorsWithLineAndColumn) {
  const ErrorDetails open = error_for("a,b\n1,\"x\ny\n");
  EXPECT_EQ(open.what, "cannot read line 4, column 2 (b) of a table");
  EXPECT_THAT(open.found, HasSubstr("line 2"));
  const ErrorDetails inside = error_for("a,b\n5\" disk,x\n");
  EXPECT_EQ(inside.what, "cannot read line 2, column 1 (a) of a table");
  EXPECT_EQ(inside.found, "a quote inside a cell");
  EXPECT_EQ(inside.offset, 5U);
  EXPECT_THAT(error_for("a,b\n1, \"x\"\n").what, HasSubstr("line 2, column 2 (b)"));
  const ErrorDetails after = error_for("a,b\n\"x\"y,1\n");
  EXPECT_EQ(after.what, "cannot read line 2, column 1 (a) of a table");
  EXPECT_EQ(after.found, "more text");
  EXPECT_THAT(error_for("a,b\n\"").what, HasSubstr("line 2, column 1 (a)"));
}

TEST(DelimitedTable, OtherEncodingsAndBytesAreRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"\xFF\xFEp\0a\0"sv, "\xFE\xFF\0p\0a"sv}) {
    const ErrorDetails error = error_for(text);
    EXPECT_EQ(error.found, "UTF-16");
    EXPECT_THAT(error.hint, HasSubstr("iconv"));
    EXPECT_THAT(error.what, HasSubstr("line 1, column 1"));
  }
  EXPECT_THAT(error_for("a,b\nx,\0y\n"sv).what, HasSubstr("line 2, column 2 (b)"));
  EXPECT_EQ(error_for("a,b\nx,\0y\n"sv).found, "a zero byte");
  EXPECT_EQ(error_for("a,b\n\"x\0\",y\n"sv).found, "a zero byte");
  EXPECT_THAT(error_for("p\0a\0"sv).what, StartsWith("cannot read line 1, column 1"));
  const ErrorDetails mac = error_for("a,b\rc,d\r");
  EXPECT_EQ(mac.found, "a carriage return alone");
  EXPECT_THAT(mac.what, HasSubstr("line 1"));
}

TEST(DelimitedTable, WithoutAHeaderOrWithTooManyColumnsIsAnError) {
  EXPECT_EQ(error_for("").what, "a table is empty");
  EXPECT_EQ(error_for("\n\n").what, "a table is empty");
  EXPECT_EQ(error_for("\xEF\xBB\xBF").what, "a table is empty");
  EXPECT_THAT(error_for(std::string(65'536, ',')).expected, HasSubstr("65536 columns"));
  EXPECT_EQ(rows_of(std::string(65'535, ',')).front().size(), 65'536U);
}

TEST(DelimitedTable, ExtensionsTellTheDelimiter) {
  EXPECT_EQ(delimiter_of("a/b.csv"), ',');
  EXPECT_EQ(delimiter_of("B.TSV"), '\t');
  EXPECT_EQ(delimiter_of("csv"), std::nullopt);
  EXPECT_EQ(delimiter_of("a.csv.gz"), std::nullopt);
}

TEST(DelimitedTable, CellsAreReadBackAsTheyWereWritten) {
  for (const char delimiter : {',', '\t'}) {
    const std::vector<std::string> cells = {"plain", "a,b",    "a\tb", "say \"x\"",        "1\r\n2",
                                            "",      " edge ", "\"",   "\xEF\xBB\xBFmark", "Käfer"};
    std::string text = "1";
    for (std::size_t i = 1; i < cells.size(); ++i) text += delimiter + std::to_string(i);
    text += '\n';
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += (i > 0 ? std::string(1, delimiter) : "") + as_cell(cells[i], delimiter);
    }
    const Rows rows = rows_of(text, delimiter);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[1], cells);
  }
  EXPECT_EQ(as_cell("a b"), "a b");
  EXPECT_EQ(as_cell("a,b", '\t'), "a,b");
}

TEST(DelimitedTable, NamesInASettingAreOneRecord) {
  EXPECT_THAT(cells_of(""), IsEmpty());
  EXPECT_THAT(cells_of("a"), ElementsAre("a"));
  EXPECT_THAT(cells_of("a, b ,\"c,d\""), ElementsAre("a", "b", "c,d"));
  EXPECT_THROW((void)cells_of("\"a"), Error);
}

}  // namespace
}  // namespace stoker::detail
