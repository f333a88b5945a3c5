#include "stoker/cuda/gram_kernel.h"

#include <utility>

#include <gtest/gtest.h>

#include "stoker/cuda/test_launch.h"
#include "stoker/kernels/gram/gram.h"

namespace stoker::cuda {
namespace {

template <class T>
std::vector<T> expected_gram(const std::vector<T>& x, int rows, int columns, int stride) {
  std::vector<T> out(static_cast<std::size_t>(rows) * rows);
  gram_reference({out.data(), rows, rows}, Plane<const T>{x.data(), rows, columns, stride});
  return out;
}

template <class T>
std::vector<T> simulated_gram(const std::vector<T>& x, const GramShape& shape, Variant variant,
                              SimulatedLaunch& launch) {
  const Buffer<T> in("x", x);
  const auto rows = static_cast<std::size_t>(shape.rows);
  Buffer<T> out("out", std::vector<T>(rows * rows, T{-1}));
  run_gram<T>(launch, out.output(), in.input(), shape, variant);
  return out.values();
}

template <class T>
class GramKernel : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GramKernel, Types, );

TYPED_TEST(GramKernel, EqualsTheReferenceForEveryShapeAndSchedule) {
  using T = TypeParam;
  const std::pair<int, int> shapes[] = {{0, 5},   {1, 1},    {1, 40},  {5, 0},
                                        {7, 3},   {33, 16},  {63, 17}, {64, 16},
                                        {65, 15}, {70, 100}, {130, 4}, {193, 33}};
  for (const auto& [rows, columns] : shapes) {
    for (const int gap : {0, 1, 4}) {
      const int stride = columns + gap;
      const auto x = random_values<T>(static_cast<std::size_t>(rows) * stride, 5);
      const auto expected = expected_gram(x, rows, columns, stride);
      for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
        SimulatedLaunch launch{.seed = static_cast<std::uint64_t>(rows + gap)};
        const GramShape shape{rows, columns, stride, rows};
        ASSERT_EQ(simulated_gram(x, shape, variant, launch), expected)
            << rows << "×" << columns << " gap " << gap << " variant " << int(variant);
      }
    }
  }
}

TEST(GramKernelOneBlock, IsOneBlockOf1024ThreadsEvenForMoreValuesThanThreads) {
  const auto x = random_values<float>(100 * 3, 6);
  SimulatedLaunch launch;
  EXPECT_EQ(simulated_gram(x, {100, 3, 3, 100}, Variant::kPlain, launch),
            expected_gram(x, 100, 3, 3));
  EXPECT_EQ(launch.grid.x * launch.grid.y, 1U);
  EXPECT_EQ(launch.block.x, 1024U);
}

TEST(GramKernelTiled, IsSymmetricToTheLastBitForFractions) {
  std::vector<float> x(130 * 20);
  Rng rng({.seed = 9}, 0);
  for (auto& value : x) value = static_cast<float>(rng.uniform(-1, 1));
  SimulatedLaunch launch;
  const auto out = simulated_gram(x, {130, 20, 20, 130}, Variant::kTiled, launch);
  for (std::size_t i = 0; i < 130; ++i) {
    for (std::size_t j = 0; j < 130; ++j) ASSERT_EQ(out[i * 130 + j], out[j * 130 + i]);
  }
  // The simulator rounds as the reference does, and both sum in the same order.
  EXPECT_EQ(out, expected_gram(x, 130, 20, 20));
}

TEST(GramKernelTiled, FailsWithoutEitherBarrier) {
  const GramShape shape{70, 40, 40, 70};
  const auto x = random_values<float>(70 * 40, 7);
  const auto expected = expected_gram(x, 70, 40, 40);
  for (const char* barrier : {"tiles_filled", "tiles_used"}) {
    SimulatedLaunch checked{.omit_barrier = barrier};
    EXPECT_THROW((void)simulated_gram(x, shape, Variant::kTiled, checked), SimulatorError)
        << barrier;
    // The values alone give it away too.
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SimulatedLaunch unchecked{.seed = seed, .omit_barrier = barrier, .check_races = false};
      EXPECT_NE(simulated_gram(x, shape, Variant::kTiled, unchecked), expected) << barrier;
      EXPECT_GT(unchecked.report.omitted, 0U);
    }
  }
}

}  // namespace
}  // namespace stoker::cuda
