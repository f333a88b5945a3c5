#include "stoker/kernels/sobel/filter_text.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

using testing::HasSubstr;

template <class Parse>
std::string refusal(const Parse& parse, const std::string& text) {
  try {
    static_cast<void>(parse(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted: " + text;
}

TEST(ParseKernel, ReadsRowsOfNumbers) {
  for (const char* text : {"1 0 -1; 2 0 -2.5; 1 0 -1", "1,0,-1;2,0,-2.5;1,0,-1;"}) {
    const FilterText kernel = parse_kernel(text);
    EXPECT_EQ(kernel.rows, 3);
    EXPECT_EQ(kernel.columns, 3);
    EXPECT_EQ(kernel.values, (std::vector<float>{1, 0, -1, 2, 0, -2.5F, 1, 0, -1})) << text;
  }
  EXPECT_EQ(parse_kernel("7").values, std::vector<float>{7});
}

TEST(ParseKernel, MultipliesAColumnAndARow) {
  for (const char* text : {"1,2,1,2,1 x 1,0,-1", "1 2 1 2 1x1 0 -1", "1,2,1,2,1 × 1,0,-1"}) {
    const FilterText kernel = parse_kernel(text);
    EXPECT_EQ(kernel.rows, 5) << text;
    EXPECT_EQ(kernel.columns, 3) << text;
    EXPECT_EQ(kernel.values, parse_filter("f3").values) << text;
    for (const float value : kernel.values) EXPECT_FALSE(value == 0 && std::signbit(value));
  }
}

TEST(ParseKernel, SaysWhatIsWrong) {
  for (const auto& [text, words] : {std::pair{"1 2 3; 4 5; 6 7 8", "rows of 3 and 2"},
                                    {"", "0 columns"},
                                    {";", "0 columns"},
                                    {"1 2", "2 columns"},
                                    {"1;2", "2 rows"},
                                    {"1 2 3;4 5 6", "2 rows"},
                                    {"1 two 3", "\"two\""},
                                    {"1 nan 2", "\"nan\""},
                                    {"1 3z 2", "\"3z\""},
                                    {"1 inf 2", "\"inf\""},
                                    {"1 -1e7 2", "from -1000000 to 1000000, got \"-1e7\""},
                                    {"1,2 x 1,0,-1", "2 numbers in the column"},
                                    {"1,2,1 x 1,0,0,-1", "4 numbers in the row"},
                                    {"1,2,1 x", "0 numbers in the row"},
                                    {"1,2,1 x 1,0,-1 x 1", "one column, one x and one row"},
                                    {"1;2;1 x 1,0,-1", "one column, one x and one row"},
                                    {"1e4 x 1e4", "products up to"}}) {
    const std::string message = refusal(parse_kernel, text);
    EXPECT_THAT(message, HasSubstr(words)) << text;
    EXPECT_THAT(message, HasSubstr("1,2,1 x 1,0,-1")) << text;
  }
}

TEST(ParseKernel, RefusesMoreThanNinetyNineRows) {
  std::string column = "1";
  for (int i = 1; i < 99; ++i) column += ",1";
  EXPECT_EQ(parse_kernel(column + " x 1,0,-1").rows, 99);
  EXPECT_THAT(refusal(parse_kernel, column + ",1,1 x 1,0,-1"), HasSubstr("at most 99"));
  EXPECT_THAT(refusal(parse_kernel, column + ",1,1"), HasSubstr("101 columns"));
}

TEST(ParseFilter, TakesNamesNumbersAndCoefficients) {
  for (const NamedFilter& filter : named_filters()) {
    const FilterText text = parse_filter(filter.name);
    EXPECT_EQ(text.name, filter.name);
    EXPECT_EQ(text.correlation_only, filter.correlation_only);
    EXPECT_EQ(text.values,
              std::vector<float>(filter.values.begin(),
                                 filter.values.begin() + filter.rows * filter.columns));
  }
  for (const char* number : {"1", "2", "3", "4"}) {
    EXPECT_EQ(parse_filter(number).name, std::string("f") + number);
  }
  EXPECT_EQ(parse_filter(" 4 ").name, "f4");
  EXPECT_EQ(parse_filter("scharr").name, "f2");
  EXPECT_EQ(parse_filter("1,2,1,2,1 x 1,0,0,0,-1").values, parse_filter("4").values);
  EXPECT_EQ(parse_filter("1,2,1 x 1,0,-1").name, "");
  EXPECT_EQ(parse_filter("-1 0 1").values, (std::vector<float>{-1, 0, 1}));
}

TEST(ParseFilter, RefusesOtherNumbersAndNames) {
  EXPECT_THAT(refusal(parse_filter, "5"), HasSubstr("from 1 to 4, got \"5\""));
  EXPECT_THAT(refusal(parse_filter, "0"), HasSubstr("from 1 to 4"));
  EXPECT_THAT(refusal(parse_filter, "11"), HasSubstr("from 1 to 4"));
  EXPECT_THAT(refusal(parse_filter, "sobel9"), HasSubstr("scharr"));
  EXPECT_THAT(refusal(parse_filter, "schar"), HasSubstr("Did you mean scharr?"));
  EXPECT_THAT(refusal(parse_filter, ""), HasSubstr("f1"));
}

}  // namespace
}  // namespace stoker
