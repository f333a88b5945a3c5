#include "stoker/kernels/maximum/maximum.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/kernels/simd.h"
#include "stoker/kernels/test_planes.h"

namespace stoker {
namespace {

using test::Matrix;
using test::random_matrix;

class MaximumEveryVersion : public testing::Test {
 protected:
  ~MaximumEveryVersion() override { force_simd("auto"); }
};

template <class T>
void expect_exact(double low, double high) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    Rng rng({.seed = 3}, 0);
    for (int columns = 0; columns <= 140; ++columns) {
      for (const int gap : {0, 3}) {
        const auto a = random_matrix<T>(5, columns, rng, low, high, false, gap);
        const auto b = random_matrix<T>(5, columns, rng, low, high, false, gap);
        Matrix<T> expected(5, columns, gap), found(5, columns, gap);
        maximum_reference(expected.plane(), a.plane(), b.plane());
        maximum(found.plane(), a.plane(), b.plane());
        ASSERT_EQ(found, expected) << name << " " << columns << " " << gap;
      }
    }
  }
}

TEST_F(MaximumEveryVersion, EqualsTheReference) {
  expect_exact<std::uint8_t>(0, 255);
  expect_exact<std::int32_t>(-2147483648.0, 2147483646.0);
  expect_exact<std::int64_t>(-5e8, 5e8);
}

TEST_F(MaximumEveryVersion, ComparesAllOf64Bits) {
  for (const auto& name : available_simd()) {
    force_simd(name);
    Matrix<std::int64_t> a(1, 20), b(1, 20), out(1, 20);
    for (int i = 0; i < 20; ++i) {
      a.plane().at(0, i) = (std::int64_t{i % 3 - 1} << 33) + 5;
      b.plane().at(0, i) = 7 - i;
    }
    maximum(out.plane(), std::as_const(a).plane(), std::as_const(b).plane());
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(out.plane().at(0, i), std::max(a.plane().at(0, i), b.plane().at(0, i))) << name;
    }
  }
}

// Beyond the caches, in several threads, from an address that no vector is aligned to.
TEST(Maximum, OfLargePlanesIsExact) {
  Rng rng({.seed = 5}, 0);
  const auto a = random_matrix<std::int32_t>(2100, 2101, rng, 0, 255, false, 0);
  const auto b = random_matrix<std::int32_t>(2100, 2101, rng, 0, 255, false, 0);
  Matrix<std::int32_t> expected(2100, 2101), found(2100, 2101);
  maximum_reference(expected.plane(), a.plane(), b.plane());
  for (const int threads : {0, 1, 2, 8}) {
    found = Matrix<std::int32_t>(2100, 2101);
    const Plane<std::int32_t> out = found.plane();
    // All but the first value, as one row.
    const int rest = 2100 * 2101 - 1;
    maximum({out.data + 1, 1, rest}, {a.plane().data + 1, 1, rest}, {b.plane().data + 1, 1, rest},
            {.threads = threads});
    out.at(0, 0) = expected.plane().at(0, 0);
    EXPECT_EQ(found, expected) << threads;
  }
}

TEST(Maximum, MayWriteOverItsInput) {
  Rng rng({.seed = 7}, 0);
  auto a = random_matrix<std::uint8_t>(9, 77, rng, 0, 255, false);
  const auto b = random_matrix<std::uint8_t>(9, 77, rng, 0, 255, false);
  Matrix<std::uint8_t> expected(9, 77);
  maximum_reference(expected.plane(), std::as_const(a).plane(), b.plane());
  maximum(a.plane(), std::as_const(a).plane(), b.plane());
  EXPECT_EQ(a, expected);
}

TEST(Maximum, RefusesDifferentShapes) {
  Matrix<std::int32_t> a(3, 4), b(4, 3), out(3, 4);
  EXPECT_THROW(maximum(out.plane(), std::as_const(a).plane(), std::as_const(b).plane()), Error);
}

}  // namespace
}  // namespace stoker
