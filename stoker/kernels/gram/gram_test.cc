#include "stoker/kernels/gram/gram.h"

#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/test_planes.h"

namespace stoker {
namespace {

using test::Matrix;
using test::random_matrix;

class GramEveryVersion : public testing::Test {
 protected:
  ~GramEveryVersion() override {
    force_simd("auto");
    use_gram_blas({});
  }
};

const std::vector<std::pair<int, int>> kShapes = {
    {0, 0},  {0, 5},   {5, 0},   {1, 1},   {1, 500},  {500, 1},  {3, 7},    {8, 48},
    {47, 3}, {48, 48}, {49, 50}, {95, 20}, {96, 192}, {97, 193}, {131, 77}, {200, 401}};

// Whole numbers: every order of summing gives the same.
template <class T>
void expect_exact(const GramOptions& options = {}) {
  Rng rng({.seed = 3}, 0);
  for (const auto& [rows, columns] : kShapes) {
    const auto x = random_matrix<T>(rows, columns, rng, -50, 50, false, 3);
    Matrix<T> expected(rows, rows, 5), found(rows, rows, 5);
    gram_reference(expected.plane(), x.plane());
    gram(found.plane(), x.plane(), options);
    ASSERT_EQ(found, expected) << active_simd() << " " << rows << "x" << columns;
  }
}

TEST_F(GramEveryVersion, OfWholeNumbersEqualsTheReference) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    expect_exact<float>();
    expect_exact<double>();
  }
}

// scripts/setup installs OpenBLAS.
TEST_F(GramEveryVersion, ByOpenBlasEqualsTheReference) {
  use_gram_blas(loaded_gram_blas());
  for (const int threads : {1, 2}) {
    expect_exact<float>({.threads = threads, .method = GramMethod::kBlas});
    expect_exact<double>({.threads = threads, .method = GramMethod::kBlas});
  }
}

// 700 roundings of sums up to 700 wander about 26 times as far as one.
TEST_F(GramEveryVersion, IsTheReferenceUpToRoundingAndSymmetric) {
  constexpr double kTolerance = 26 * 700 * 0x1p-24;
  for (const auto& name : available_simd()) {
    force_simd(name);
    Rng rng({.seed = 5}, 0);
    const auto x = random_matrix<float>(150, 700, rng, -1, 1);
    Matrix<float> expected(150, 150), found(150, 150);
    gram_reference(expected.plane(), x.plane());
    gram(found.plane(), x.plane());
    for (int i = 0; i < 150; ++i) {
      for (int j = 0; j < 150; ++j) {
        const double off = std::abs(found.plane().at(i, j) - expected.plane().at(i, j));
        ASSERT_LE(off, kTolerance) << name << " " << i << " " << j;
        ASSERT_EQ(found.plane().at(i, j), found.plane().at(j, i)) << name;
      }
    }
  }
}

TEST_F(GramEveryVersion, DoesNotDependOnThreads) {
  Rng rng({.seed = 7}, 0);
  const auto x = random_matrix<double>(333, 401, rng, -1, 1);
  Matrix<double> one(333, 333), more(333, 333);
  gram(one.plane(), x.plane(), {.threads = 1});
  for (const int threads : {2, 5}) {
    gram(more.plane(), x.plane(), {.threads = threads});
    EXPECT_EQ(more, one);
  }
}

// What stands for a BLAS here writes the lower half and leaves the upper one wrong.
template <class T>
void half_by_loops(const Plane<T>& out, const Plane<const T>& x, int) {
  gram_reference(out, x);
  for (int i = 0; i < out.rows; ++i) std::fill(out.row(i) + i + 1, out.row(i) + out.columns, T{-1});
}

TEST_F(GramEveryVersion, ABlasInPlaceIsTakenAndItsHalfMirrored) {
  Rng rng({.seed = 9}, 0);
  const auto x = random_matrix<float>(70, 30, rng, -9, 9, false);
  Matrix<float> expected(70, 70), found(70, 70);
  gram_reference(expected.plane(), x.plane());
  EXPECT_THROW(gram(found.plane(), x.plane(), {.method = GramMethod::kBlas}), Error);
  use_gram_blas({.f32 = half_by_loops<float>, .f64 = half_by_loops<double>});
  EXPECT_EQ(gram(found.plane(), x.plane()), GramMethod::kBlas);
  EXPECT_EQ(found, expected);
}

TEST_F(GramEveryVersion, TheForcedMethodIsTheOneThatRuns) {
  Matrix<float> x(5, 6), out(5, 5);
  for (const GramMethod method : {GramMethod::kReference, GramMethod::kBlocked}) {
    EXPECT_EQ(gram(out.plane(), std::as_const(x).plane(), {.method = method}), method);
    ::setenv("STOKER_GRAM", std::string(method_name(method)).c_str(), 1);
    EXPECT_EQ(gram(out.plane(), std::as_const(x).plane()), method);
    ::unsetenv("STOKER_GRAM");
  }
  ::setenv("STOKER_GRAM", "magic", 1);
  EXPECT_THROW(gram(out.plane(), std::as_const(x).plane()), Error);
  ::unsetenv("STOKER_GRAM");
}

TEST(Gram, RefusesWrongShapes) {
  Matrix<float> x(5, 6), out(5, 6);
  EXPECT_THROW(gram(out.plane(), std::as_const(x).plane()), Error);
}

}  // namespace
}  // namespace stoker
