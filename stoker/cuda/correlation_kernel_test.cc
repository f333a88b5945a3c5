#include "stoker/cuda/correlation_kernel.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "stoker/cuda/test_images.h"
#include "stoker/kernels/correlation/correlation.h"

namespace stoker::cuda {
namespace {

template <class In, class T>
struct Pair {
  using Input = In;
  using Sum = T;
};

template <class In, class T>
std::vector<T> reference_of(const ImageCase<In, T>& test) {
  return test.expected(
      [](const Plane<T>& out, const Plane<const In>& image, const Plane<const T>& kernel) {
        correlate_reference(out, image, kernel);
      });
}

enum class Weights : std::uint8_t { kConstant, kLoaded, kPixel };

template <class In, class T>
std::vector<T> simulated(const ImageCase<In, T>& test, Weights where, SimulatedLaunch& launch) {
  const Buffer<In> image("image", test.pixels(), test.skipped);
  const Buffer<T> weights("weights", test.weights());
  Buffer<T> out("out", test.before());
  if (where == Weights::kConstant) {
    const auto values = test.weights();
    run_constant_correlation<In, T>(launch, out.output(), image.input(), test.shape(),
                                    values.data(), test.kernel);
  } else {
    run_correlation<In, T>(launch, out.output(), image.input(), test.shape(), weights.input(),
                           test.kernel,
                           where == Weights::kPixel ? Variant::kPlain : Variant::kTiled);
  }
  return out.values();
}

template <class In, class T>
void expect_reference(const ImageCase<In, T>& test) {
  const auto expected = reference_of(test);
  for (const Weights where : {Weights::kConstant, Weights::kLoaded, Weights::kPixel}) {
    if (where == Weights::kConstant && reach_of(test.kernel) > kMostCorrelationReach) continue;
    SimulatedLaunch launch{.seed = static_cast<std::uint64_t>(test.rows)};
    ASSERT_EQ(simulated(test, where, launch), expected)
        << test.rows << "×" << test.columns << " kernel " << test.kernel.rows << "×"
        << test.kernel.columns << " gap " << test.gap << " way " << int(where);
  }
}

template <class Types>
class CorrelationKernel : public testing::Test {};
using Types =
    testing::Types<Pair<float, float>, Pair<double, double>, Pair<std::int32_t, std::int32_t>,
                   Pair<std::uint8_t, float>, Pair<std::uint8_t, std::int32_t>>;
TYPED_TEST_SUITE(CorrelationKernel, Types, );

TYPED_TEST(CorrelationKernel, EqualsTheReferenceForImagesAndKernelsOfAllShapes) {
  using Case = ImageCase<typename TypeParam::Input, typename TypeParam::Sum>;
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 150}, {37, 1}, {5, 4}, {33, 129}, {40, 64}};
  const KernelShape kernels[] = {{1, 1}, {3, 3}, {5, 5}, {7, 7},  {5, 3},
                                 {3, 5}, {1, 9}, {9, 1}, {11, 15}};
  for (const auto& [rows, columns] : sizes) {
    for (const KernelShape kernel : kernels) expect_reference(Case{rows, columns, kernel});
  }
}

TYPED_TEST(CorrelationKernel, EqualsTheReferenceForLargeKernels) {
  using Case = ImageCase<typename TypeParam::Input, typename TypeParam::Sum>;
  expect_reference(Case{20, 70, {31, 31}});
  expect_reference(Case{9, 8, {17, 31}});
  expect_reference(Case{9, 40, {33, 3}});  // beyond what tiles are made for
}

TYPED_TEST(CorrelationKernel, EqualsTheReferenceWithGapsAndOddAddresses) {
  using Case = ImageCase<typename TypeParam::Input, typename TypeParam::Sum>;
  for (const int gap : {1, 3, 16}) expect_reference(Case{18, 80, {3, 3}, gap});
  expect_reference(Case{18, 80, {5, 5}, 0, 1});
  expect_reference(Case{18, 256, {7, 7}, 0, 3});
}

TEST(CorrelationKernelEmpty, LaunchesNothing) {
  for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 5}, {5, 0}}) {
    SimulatedLaunch launch;
    for (const Weights where : {Weights::kConstant, Weights::kLoaded, Weights::kPixel}) {
      (void)simulated(ImageCase<float, float>{rows, columns, {3, 3}}, where, launch);
    }
    EXPECT_EQ(launch.launches, 0);
  }
}

TEST(CorrelationKernelSchedules, AllGiveTheSameBytes) {
  const ImageCase<float, float> test{35, 140, {5, 5}};
  const auto expected = reference_of(test);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedLaunch launch{.seed = seed};
    ASSERT_EQ(simulated(test, Weights::kConstant, launch), expected) << seed;
    EXPECT_EQ(launch.report.barriers, launch.grid.x);
    ASSERT_EQ(simulated(test, Weights::kLoaded, launch), expected) << seed;
  }
}

TEST(CorrelationKernelBarrier, IsMissedByEveryTiledKernel) {
  for (const int side : {3, 5, 7, 9, 31}) {
    const ImageCase<float, float> test{20, 140, {side, side}};
    const auto expected = reference_of(test);
    for (const Weights where : {Weights::kConstant, Weights::kLoaded}) {
      SimulatedLaunch checked{.omit_barrier = "tile_filled"};
      EXPECT_THROW((void)simulated(test, where, checked), SimulatorError) << side;
      SimulatedLaunch unchecked{.omit_barrier = "tile_filled", .check_races = false};
      EXPECT_NE(simulated(test, where, unchecked), expected) << side;
    }
  }
}

TEST(CorrelationKernelTiles, FitIntoTheSharedMemoryOfEveryGpu) {
  SimulatedLaunch launch;
  (void)simulated(ImageCase<double, double>{9, 9, {31, 31}}, Weights::kLoaded, launch);
  EXPECT_GT(launch.report.shared_bytes, 40000U);  // the largest of all
  EXPECT_LE(launch.report.shared_bytes, 48U << 10);
}

TEST(CorrelationKernelNaN, StaysUnderTheKernel) {
  // Columns that a window reads beyond the kernel must not count, not even with weight zero.
  std::vector<float> pixels(9 * 40, 1.0F);
  pixels[4 * 40 + 20] = std::nanf("");
  const Buffer<float> image("image", pixels);
  const std::vector<float> ones(25, 1.0F);
  for (const KernelShape kernel : {KernelShape{3, 3}, {5, 5}, {5, 3}, {1, 5}}) {
    Buffer<float> out("out", std::vector<float>(pixels.size()));
    SimulatedLaunch launch;
    run_constant_correlation<float, float>(launch, out.output(), image.input(), {9, 40, 40, 40},
                                           ones.data(), kernel);
    int nans = 0;
    for (const float value : out.values()) nans += std::isnan(value) ? 1 : 0;
    EXPECT_EQ(nans, kernel.rows * kernel.columns);
  }
}

TEST(CorrelationKernelInt, WrapsAround) {
  const Buffer<std::int32_t> image("image", std::vector<std::int32_t>(6, 2000000000));
  Buffer<std::int32_t> out("out", std::vector<std::int32_t>(6));
  const std::vector<std::int32_t> weights = {3, 3, 3};
  SimulatedLaunch launch;
  run_constant_correlation<std::int32_t, std::int32_t>(launch, out.output(), image.input(),
                                                       {1, 6, 6, 6}, weights.data(), {1, 3});
  EXPECT_EQ(out.values()[2], static_cast<std::int32_t>(std::uint32_t{2000000000} * 9));
}

}  // namespace
}  // namespace stoker::cuda
