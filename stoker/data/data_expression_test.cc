#include "stoker/data/data_expression.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

TEST(DataExpression, ReadsSplitsRangesAndLists) {
  EXPECT_EQ(parse_data_expression("mnist:train[50000:60000]"),
            (std::vector<DataTerm>{{"mnist", "train", IndexRange{50000, 60000}}}));
  EXPECT_EQ(parse_data_expression("mnist:test,mnist:train[500:50000]"),
            (std::vector<DataTerm>{{"mnist", "test"}, {"mnist", "train", IndexRange{500, 50000}}}));
  EXPECT_EQ(parse_data_expression("photos[:100]"),
            (std::vector<DataTerm>{{"photos", "", IndexRange{0, 100}}}));
  EXPECT_EQ(parse_data_expression("a/b:val[7:]"),
            (std::vector<DataTerm>{{"a/b", "val", IndexRange{7, IndexRange::kToTheEnd}}}));
  EXPECT_EQ(parse_data_expression("http://host:80/d[1:2]"),
            (std::vector<DataTerm>{{"http://host:80/d", "", IndexRange{1, 2}}}));
}

TEST(DataExpression, LeavesNamesPathsAndUrlsAlone) {
  for (const char* text : {"mnist", "a,b", "s3://bucket/a", "http://host:8080/train", "photos[12]",
                           "shards-{000..010}.tar", "", "C:other", "x]", "[", ","}) {
    EXPECT_TRUE(parse_data_expression(text).empty()) << text;
  }
}

TEST(DataExpression, RefusesRangesThatAreNone) {
  for (const char* text :
       {"mnist[5:x]", "mnist[5:5]", "mnist[6:5]", "mnist[-1:5]", "mnist[1:2:3]", "mnist[ 1:2]",
        "mnist[1:99999999999999999999]", "mnist[18446744073709551615:]"}) {
    const ErrorDetails error = error_of([&] { (void)parse_data_expression(text); });
    EXPECT_NE(error.what.find("range of indices"), std::string::npos) << text;
  }
}

TEST(DataExpression, RefusesAListWithAPartThatSaysNothing) {
  for (const char* text : {"mnist:test,fashion-mnist", "mnist:test,", ":test", "[1:2]"}) {
    const ErrorDetails error = error_of([&] { (void)parse_data_expression(text); });
    EXPECT_NE(error.what.find("list of data"), std::string::npos) << text;
  }
}

TEST(DataExpression, TextReadsBack) {
  for (const char* text : {"mnist:train[50000:60000]", "mnist:test", "a[3:]"}) {
    const auto parts = parse_data_expression(text);
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(text_of(parts.front()), text);
  }
}

}  // namespace
}  // namespace stoker
