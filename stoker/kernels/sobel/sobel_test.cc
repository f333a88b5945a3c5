#include "stoker/kernels/sobel/sobel.h"

#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/test_planes.h"

namespace stoker {
namespace {

using test::Matrix;
using test::random_matrix;

class SobelEveryVersion : public testing::Test {
 protected:
  ~SobelEveryVersion() override { force_simd("auto"); }
};

template <class T, class In>
void expect_exact(const Plane<const T>& filter) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    Rng rng({.seed = 3}, 0);
    for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{0, 0},
                                                                        {1, 1},
                                                                        {1, 200},
                                                                        {200, 1},
                                                                        {3, 5},
                                                                        {17, 31},
                                                                        {18, 64},
                                                                        {33, 129},
                                                                        {21, 700}}) {
      const Matrix<In> image = random_matrix<In>(rows, columns, rng, 0, 255, false, 3);
      Matrix<T> expected(rows, columns, 5), found(rows, columns, 5);
      sobel_reference(expected.plane(), image.plane(), filter);
      sobel(found.plane(), image.plane(), filter);
      ASSERT_EQ(found, expected) << name << " " << rows << "x" << columns;
    }
  }
}

TEST_F(SobelEveryVersion, OfWholeNumbersEqualsTheReferenceInEveryBit) {
  for (const NamedFilter& filter : named_filters()) {
    expect_exact<float, float>(filter.plane());
    expect_exact<float, std::uint8_t>(filter.plane());
    const std::vector<double> values(filter.values.begin(), filter.values.end());
    expect_exact<double, double>({values.data(), filter.rows, filter.columns});
  }
}

TEST_F(SobelEveryVersion, TakesFiltersOfAnyOddShape) {
  Rng rng({.seed = 5}, 0);
  for (int rows = 1; rows <= 9; rows += 2) {
    for (int columns = 1; columns <= 9; columns += 2) {
      const Matrix<float> filter = random_matrix<float>(rows, columns, rng, -9, 9, false);
      expect_exact<float, std::uint8_t>(filter.plane());
    }
  }
}

TEST(Sobel, DoesNotDependOnThreads) {
  Rng rng({.seed = 7}, 0);
  const Matrix<float> image = random_matrix<float>(601, 703, rng, -1, 1);
  Matrix<float> one(601, 703), more(601, 703);
  sobel(one.plane(), image.plane(), named_filter("f4").plane(), {.threads = 1});
  for (const int threads : {2, 5}) {
    sobel(more.plane(), image.plane(), named_filter("f4").plane(), {.threads = threads});
    EXPECT_EQ(more, one);
  }
}

TEST(Sobel, IsTheLengthOfTheGradient) {
  Matrix<float> ramp(9, 9), out(9, 9);
  for (int y = 0; y < 9; ++y) {
    for (int x = 0; x < 9; ++x) ramp.plane().at(y, x) = static_cast<float>(3 * x + 4 * y);
  }
  sobel(out.plane(), std::as_const(ramp).plane(), named_filter("sobel3").plane());
  EXPECT_EQ(out.plane().at(4, 4), 8 * 5);  // eight times the step of 3 and 4
}

TEST(Sobel, RefusesWrongShapes) {
  Matrix<float> image(4, 4), out(4, 3), good(4, 4), even(2, 2);
  EXPECT_THROW(sobel(out.plane(), std::as_const(image).plane(), named_filter("sobel3").plane()),
               Error);
  EXPECT_THROW(sobel(good.plane(), std::as_const(image).plane(), std::as_const(even).plane()),
               Error);
}

// The weights in use, and zeros in what is left of the array.
void expect_weights(std::string_view name, int rows, int columns,
                    const std::vector<float>& weights) {
  const NamedFilter& filter = named_filter(name);
  EXPECT_EQ(filter.rows, rows) << name;
  EXPECT_EQ(filter.columns, columns) << name;
  std::vector<float> expected = weights;
  expected.resize(filter.values.size());
  EXPECT_THAT(filter.values, testing::ElementsAreArray(expected)) << name;
}

TEST(NamedFilters, EveryCoefficientIsTheDocuments) {
  expect_weights("f1", 3, 3, {1, 0, -1, 2, 0, -2, 1, 0, -1});
  expect_weights("f2", 3, 3, {3, 0, -3, 10, 0, -10, 3, 0, -3});
  expect_weights("f3", 5, 3, {1, 0, -1, 2, 0, -2, 1, 0, -1, 2, 0, -2, 1, 0, -1});
  expect_weights("f4", 5, 5,
                 {1, 0, 0, 0, -1, 2, 0, 0, 0, -2, 1, 0, 0, 0, -1, 2, 0, 0, 0, -2, 1, 0, 0, 0, -1});
  expect_weights("blur", 3, 3, {1, 1, 1, 1, 0, 1, 1, 1, 1});
}

TEST(NamedFilters, TheBinomialOnesKeepTheirWeights) {
  expect_weights("binomial5x3", 5, 3, {1, 0, -1, 4, 0, -4, 6, 0, -6, 4, 0, -4, 1, 0, -1});
  expect_weights("binomial5x5", 5, 5, {1,   2,  0, -2, -1, 4,  8,  0, -8, -4, 6,  12, 0,
                                       -12, -6, 4, 8,  0,  -8, -4, 1, 2,  0,  -2, -1});
}

TEST(NamedFilters, HaveTheirOldNamesToo) {
  for (const auto& [name, alias] : {std::pair{"f1", "sobel3"},
                                    {"f2", "scharr"},
                                    {"binomial5x3", "sobel5x3"},
                                    {"binomial5x5", "sobel5"}}) {
    EXPECT_EQ(&named_filter(alias), &named_filter(name));
  }
  EXPECT_EQ(find_filter(""), nullptr);  // filters without a second name do not answer to none
}

TEST(NamedFilters, TheDocumentsAreFourAndTheBlur) {
  std::vector<std::string_view> names;
  for (const NamedFilter& filter : document_filters()) {
    names.push_back(filter.name);
    EXPECT_EQ(filter.correlation_only, filter.name == "blur");
  }
  EXPECT_THAT(names, testing::ElementsAre("f1", "f2", "f3", "f4", "blur"));
}

TEST(NamedFilters, AnUnknownNameIsAnErrorThatListsTheKnownOnes) {
  try {
    static_cast<void>(named_filter("sobel9"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("scharr"));
  }
}

}  // namespace
}  // namespace stoker
