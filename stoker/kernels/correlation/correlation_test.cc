#include "stoker/kernels/correlation/correlation.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/sanitizers.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/test_planes.h"

namespace stoker {
namespace {

using test::Matrix;
using test::random_matrix;

class CorrelationEveryVersion : public testing::Test {
 protected:
  ~CorrelationEveryVersion() override { force_simd("auto"); }
};

struct Shape {
  int rows, columns, kernel_rows, kernel_columns;
};
std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.rows << "x" << shape.columns << " kernel " << shape.kernel_rows << "x"
             << shape.kernel_columns;
}

// Small and large, narrower and wider than vectors and kernels, one row, one column, none at all.
std::vector<Shape> shapes(int random_ones) {
  std::vector<Shape> result = {{0, 0, 3, 3},     {0, 5, 3, 3},    {5, 0, 3, 3},     {1, 1, 1, 1},
                               {1, 1, 31, 31},   {1, 700, 3, 3},  {700, 1, 3, 3},   {1, 90, 31, 31},
                               {90, 1, 31, 31},  {3, 4, 31, 7},   {4, 3, 7, 31},    {40, 600, 3, 3},
                               {33, 1100, 5, 5}, {20, 300, 7, 7}, {18, 530, 15, 15}};
  // With sanitizers the kernels are not optimised, and the shapes above have all the edges.
  if (STOKER_ASAN) random_ones /= 4;
  Rng rng({.seed = 7}, 0);
  const auto side = [&](double most) {
    return static_cast<int>(std::exp(rng.uniform(0, std::log(most))) + 0.5);
  };
  for (int i = 0; i < random_ones; ++i) {
    const int k = 1 + 2 * static_cast<int>(rng.uniform_int(16));
    const int k2 = rng.bernoulli(0.5) ? k : 1 + 2 * static_cast<int>(rng.uniform_int(16));
    result.push_back({side(70), side(300), k, k2});
  }
  return result;
}

// Weights are of the result's type, but for bytes.
template <class Out>
using Weight = std::conditional_t<std::is_same_v<Out, std::uint8_t>, std::int32_t, Out>;

template <class Out, class In>
struct Case {
  Matrix<In> image;
  Matrix<Weight<Out>> kernel;
  Matrix<Out> expected, found;

  Case(const Shape& shape, Rng& rng, double image_low, double image_high, double most_weight,
       bool fraction = std::is_floating_point_v<Out>)
      : image(random_matrix<In>(shape.rows, shape.columns, rng, image_low, image_high,
                                fraction && std::is_floating_point_v<In>, 3)),
        kernel(random_matrix<Weight<Out>>(shape.kernel_rows, shape.kernel_columns, rng,
                                          -most_weight, most_weight, fraction, 2)),
        expected(shape.rows, shape.columns, 5),
        found(shape.rows, shape.columns, 5) {
    correlate_reference(expected.plane(), std::as_const(image).plane(),
                        std::as_const(kernel).plane());
  }

  CorrelationMethod run(const CorrelationOptions& options = {}) {
    return correlate(found.plane(), std::as_const(image).plane(), std::as_const(kernel).plane(),
                     options);
  }

  // The largest difference, in units of what rounding may do to the largest possible sum.
  [[nodiscard]] double rounding() const {
    double sum = 0, most = 0, worst = 0;
    const auto k = kernel.plane();
    for (int i = 0; i < k.rows; ++i) {
      for (int j = 0; j < k.columns; ++j) sum += std::abs(static_cast<double>(k.at(i, j)));
    }
    for (int y = 0; y < image.plane().rows; ++y) {
      for (int x = 0; x < image.plane().columns; ++x) {
        most = std::max(most, std::abs(static_cast<double>(image.plane().at(y, x))));
        const double off = std::abs(static_cast<double>(found.plane().at(y, x)) -
                                    static_cast<double>(expected.plane().at(y, x)));
        if (!(off <= worst)) worst = off;
      }
    }
    const double unit = static_cast<double>(std::numeric_limits<Out>::epsilon()) * sum * most;
    return worst == 0 ? 0 : worst / unit;
  }
};

// 961 roundings each of both, none larger than half a unit; in practice they cancel.
constexpr double kMostRounding = 40;

template <class Out, class In>
void expect_close(int random_ones, double low, double high) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    Rng rng({.seed = 11}, 0);
    for (const Shape& shape : shapes(random_ones)) {
      Case<Out, In> trial(shape, rng, low, high, 1);
      trial.run();
      ASSERT_LE(trial.rounding(), kMostRounding) << name << " " << shape;
      ASSERT_TRUE(trial.found.gaps_untouched()) << name << " " << shape;
    }
  }
}

template <class Out, class In>
void expect_equal(int random_ones, double low, double high, double most_weight) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    Rng rng({.seed = 13}, 0);
    for (const Shape& shape : shapes(random_ones)) {
      Case<Out, In> trial(shape, rng, low, high, most_weight, false);
      trial.run();
      ASSERT_EQ(trial.found, trial.expected) << name << " " << shape;
    }
  }
}

TEST_F(CorrelationEveryVersion, OfFloatsIsTheReferenceUpToRounding) {
  expect_close<float, float>(60, -1, 1);
}
TEST_F(CorrelationEveryVersion, OfDoublesIsTheReferenceUpToRounding) {
  expect_close<double, double>(60, -1, 1);
}
TEST_F(CorrelationEveryVersion, OfBytesWithFloatsIsTheReferenceUpToRounding) {
  expect_close<float, std::uint8_t>(60, 0, 255);
}
TEST_F(CorrelationEveryVersion, OfWholeFloatsIsExact) {
  expect_equal<float, float>(40, -30, 30, 30);
  expect_equal<float, std::uint8_t>(40, 0, 255, 30);
}
TEST_F(CorrelationEveryVersion, OfWholeNumbersIsExactAndWrapsAround) {
  expect_equal<std::int32_t, std::int32_t>(40, -1000, 1000, 1000);
  expect_equal<std::int32_t, std::int32_t>(40, -2.1e9, 2.1e9, 1e9);
}
TEST_F(CorrelationEveryVersion, OfBytesIsExactForSmallAndLargeWeights) {
  expect_equal<std::int32_t, std::uint8_t>(60, 0, 255, 127);    // signed bytes
  expect_equal<std::int32_t, std::uint8_t>(30, 0, 255, 128);    // and just beyond
  expect_equal<std::int32_t, std::uint8_t>(30, 0, 255, 3000);   // floats, for small kernels
  expect_equal<std::int32_t, std::uint8_t>(30, 0, 255, 1.2e7);  // 32 bits
}

TEST_F(CorrelationEveryVersion, OfBytesToBytesIsCutOff) {
  expect_equal<std::uint8_t, std::uint8_t>(60, 0, 255, 1);
  expect_equal<std::uint8_t, std::uint8_t>(30, 0, 255, 127);
  expect_equal<std::uint8_t, std::uint8_t>(30, 0, 255, 1.2e7);
}

TEST_F(CorrelationEveryVersion, OfTheExtremesOfBytesIsExact) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    for (const int weight : {-128, 127}) {
      Rng rng({.seed = 1}, 0);
      Case<std::int32_t, std::uint8_t> trial({70, 70, 31, 31}, rng, 255, 255, 1);
      for (int i = 0; i < 31; ++i) std::fill_n(trial.kernel.plane().row(i), 31, weight);
      correlate_reference(trial.expected.plane(), std::as_const(trial.image).plane(),
                          std::as_const(trial.kernel).plane());
      trial.run({.method = CorrelationMethod::kDirect});
      ASSERT_EQ(trial.found, trial.expected) << name << " " << weight;
    }
  }
}

// A kernel that is a column times a row.
template <class T>
void make_product(Matrix<T>& kernel, Rng& rng, double most, bool fraction) {
  const auto k = kernel.plane();
  const Matrix<T> column = random_matrix<T>(k.rows, 1, rng, -most, most, fraction);
  const Matrix<T> row = random_matrix<T>(1, k.columns, rng, -most, most, fraction);
  for (int i = 0; i < k.rows; ++i) {
    for (int j = 0; j < k.columns; ++j) k.at(i, j) = column.plane().at(i, 0) * row.plane().at(0, j);
  }
}

template <class Out, class In>
void expect_separable(double low, double high, double most, bool exact) {
  for (const auto& name : available_simd()) {
    if (name == "reference") continue;
    force_simd(name);
    Rng rng({.seed = 17}, 0);
    for (const Shape& shape : shapes(40)) {
      Case<Out, In> trial(shape, rng, low, high, most, !exact);
      make_product(trial.kernel, rng, most, !exact);
      correlate_reference(trial.expected.plane(), std::as_const(trial.image).plane(),
                          std::as_const(trial.kernel).plane());
      const CorrelationMethod method = trial.run();
      const bool large = shape.kernel_rows >= 15 && shape.kernel_columns >= 15;
      if (large && shape.rows > 0 && shape.columns > 0) {
        ASSERT_EQ(method, CorrelationMethod::kSeparable) << name << " " << shape;
      }
      if (exact) {
        ASSERT_EQ(trial.found, trial.expected) << name << " " << shape;
      } else {
        ASSERT_LE(trial.rounding(), kMostRounding) << name << " " << shape;
      }
    }
  }
}

TEST_F(CorrelationEveryVersion, SplitsSeparableKernels) {
  expect_separable<float, float>(-1, 1, 1, false);
  expect_separable<double, double>(-1, 1, 1, false);
  expect_separable<float, std::uint8_t>(0, 255, 1, false);
}
TEST_F(CorrelationEveryVersion, SplitsSeparableKernelsOfWholeNumbersExactly) {
  expect_separable<float, float>(-5, 5, 9, true);
  expect_separable<std::int32_t, std::int32_t>(-2.1e9, 2.1e9, 30000, true);
  expect_separable<std::int32_t, std::uint8_t>(0, 255, 30000, true);
}

TEST(Correlation, DoesNotDependOnThreads) {
  Rng rng({.seed = 19}, 0);
  for (const CorrelationMethod method :
       {CorrelationMethod::kDirect, CorrelationMethod::kSeparable}) {
    Case<float, float> one({331, 517, 9, 7}, rng, -1, 1, 1);
    make_product(one.kernel, rng, 1, true);
    one.run({.threads = 1, .method = method});
    for (const int threads : {2, 3, 8}) {
      Case<float, float> more = one;
      more.run({.threads = threads, .method = method});
      EXPECT_EQ(more.found, one.found) << threads;
    }
  }
}

// Large results go around the caches, wherever they begin.
TEST(Correlation, OfLargeImagesIsExact) {
  Rng rng({.seed = 23}, 0);
  for (const int columns : {2051, 2064}) {
    Case<float, float> trial({2100, columns, 3, 3}, rng, -30, 30, 30, false);
    trial.run();
    EXPECT_EQ(trial.found, trial.expected) << columns;
  }
}

TEST(Correlation, TheForcedMethodIsTheOneThatRuns) {
  Rng rng({.seed = 29}, 0);
  Case<float, float> trial({20, 90, 5, 5}, rng, -1, 1, 1);
  make_product(trial.kernel, rng, 1, true);
  for (const CorrelationMethod method :
       {CorrelationMethod::kReference, CorrelationMethod::kDirect, CorrelationMethod::kSeparable}) {
    EXPECT_EQ(trial.run({.method = method}), method);
    ::setenv("STOKER_CORRELATION", std::string(method_name(method)).c_str(), 1);
    EXPECT_EQ(trial.run(), method);
    ::unsetenv("STOKER_CORRELATION");
  }
  force_simd("reference");
  EXPECT_EQ(trial.run(), CorrelationMethod::kReference);
  force_simd("auto");
}

TEST(Correlation, RefusesWhatItCannotDo) {
  Matrix<float> image(4, 4), out(4, 4), small(3, 4), even(2, 3), any(3, 3);
  any.plane().at(0, 0) = any.plane().at(1, 1) = 1;
  const auto call = [&](Matrix<float>& to, Matrix<float>& kernel, CorrelationOptions options = {}) {
    correlate(to.plane(), std::as_const(image).plane(), std::as_const(kernel).plane(), options);
  };
  EXPECT_THROW(call(small, any), Error);
  EXPECT_THROW(call(out, even), Error);
  EXPECT_THROW(call(out, any, {.method = CorrelationMethod::kSeparable}), Error);
  ::setenv("STOKER_CORRELATION", "magic", 1);
  try {
    call(out, any);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("separable"));
  }
  ::unsetenv("STOKER_CORRELATION");
}

TEST(Correlation, IsTheFormula) {
  Matrix<std::int32_t> image(2, 3), kernel(1, 3), out(2, 3);
  for (int i = 0; i < 6; ++i) image.plane().at(i / 3, i % 3) = i + 1;
  kernel.plane().at(0, 0) = 1;
  kernel.plane().at(0, 1) = 10;
  kernel.plane().at(0, 2) = 100;
  correlate(out.plane(), std::as_const(image).plane(), std::as_const(kernel).plane());
  const std::vector<std::int32_t> expected = {210, 321, 32, 540, 654, 65};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(out.plane().at(i / 3, i % 3), expected[i]) << i;
}

}  // namespace
}  // namespace stoker
