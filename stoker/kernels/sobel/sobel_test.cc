#include "stoker/kernels/sobel/sobel.h"

#include <cmath>

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
  sobel(one.plane(), image.plane(), named_filter("sobel5").plane(), {.threads = 1});
  for (const int threads : {2, 5}) {
    sobel(more.plane(), image.plane(), named_filter("sobel5").plane(), {.threads = threads});
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

TEST(NamedFilters, AreDerivativesButTheLast) {
  for (const NamedFilter& filter : named_filters()) {
    float sum = 0;
    for (const float value : filter.values) sum += value;
    EXPECT_EQ(sum, filter.correlation_only ? 8 : 0) << filter.name;
  }
  EXPECT_EQ(named_filters().size(), 5U);
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
