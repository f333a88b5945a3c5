#include "stoker/cuda/sobel_kernel.h"

#include <utility>

#include <gtest/gtest.h>

#include "stoker/cuda/test_images.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker::cuda {
namespace {

template <class In, class T>
std::vector<T> reference_of(const ImageCase<In, T>& test) {
  return test.expected([](const Plane<T>& out, const Plane<const In>& image,
                          const Plane<const T>& filter) { sobel_reference(out, image, filter); });
}

template <class In, class T>
std::vector<T> simulated(const ImageCase<In, T>& test, Variant variant, SimulatedLaunch& launch) {
  const Buffer<In> image("image", test.pixels(), test.skipped);
  Buffer<T> out("out", test.before());
  const auto values = test.weights();
  if (variant == Variant::kTiled) {
    run_constant_sobel<In, T>(launch, out.output(), image.input(), test.shape(), values.data(),
                              test.kernel);
  } else {
    const Buffer<T> weights("weights", values);
    run_sobel<In, T>(launch, out.output(), image.input(), test.shape(), weights.input(),
                     test.kernel);
  }
  return out.values();
}

template <class In, class T>
void expect_reference(const ImageCase<In, T>& test) {
  const auto expected = reference_of(test);
  for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
    if (variant == Variant::kTiled && reach_of(test.kernel) > kMostSobelReach) continue;
    SimulatedLaunch launch{.seed = static_cast<std::uint64_t>(test.columns)};
    ASSERT_EQ(simulated(test, variant, launch), expected)
        << test.rows << "×" << test.columns << " filter " << test.kernel.rows << "×"
        << test.kernel.columns << " variant " << int(variant);
  }
}

template <class In, class T>
void expect_reference_everywhere() {
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 150}, {37, 1}, {3, 4}, {33, 129}};
  for (const auto& [rows, columns] : sizes) {
    for (const KernelShape filter :
         {KernelShape{3, 3}, {5, 5}, {5, 3}, {3, 5}, {1, 7}, {7, 7}, {9, 3}}) {
      expect_reference(ImageCase<In, T>{rows, columns, filter});
    }
  }
  expect_reference(ImageCase<In, T>{18, 80, {5, 3}, 3});
  expect_reference(ImageCase<In, T>{18, 80, {3, 3}, 0, 1});
}

TEST(SobelKernel, EqualsTheReferenceForF32) { expect_reference_everywhere<float, float>(); }
TEST(SobelKernel, EqualsTheReferenceForF64) { expect_reference_everywhere<double, double>(); }
TEST(SobelKernel, EqualsTheReferenceForU8) { expect_reference_everywhere<std::uint8_t, float>(); }

template <class In, class T>
void expect_documents_filters() {
  for (const NamedFilter& filter : named_filters()) {
    const auto plane = filter.plane();
    const std::vector<T> taps(plane.data, plane.data + plane.size());
    for (const auto& [rows, columns] : {std::pair{1, 1}, {21, 140}, {40, 33}}) {
      expect_reference(ImageCase<In, T>{rows, columns, {filter.rows, filter.columns}, 0, 0, taps});
    }
  }
}

TEST(SobelKernel, EqualsTheReferenceForTheDocumentsFilters) {
  expect_documents_filters<float, float>();
  expect_documents_filters<double, double>();
  expect_documents_filters<std::uint8_t, float>();
}

TEST(SobelKernel, LaunchesNothingForEmptyImages) {
  SimulatedLaunch launch;
  (void)simulated(ImageCase<float, float>{0, 7, {3, 3}}, Variant::kTiled, launch);
  (void)simulated(ImageCase<float, float>{7, 0, {3, 3}}, Variant::kPlain, launch);
  EXPECT_EQ(launch.launches, 0);
}

TEST(SobelKernel, MissesItsBarrier) {
  for (const KernelShape filter : {KernelShape{3, 3}, {5, 5}, {5, 3}}) {
    const ImageCase<float, float> test{20, 140, filter};
    SimulatedLaunch checked{.omit_barrier = "tile_filled"};
    EXPECT_THROW((void)simulated(test, Variant::kTiled, checked), SimulatorError);
    SimulatedLaunch unchecked{.omit_barrier = "tile_filled", .check_races = false};
    EXPECT_NE(simulated(test, Variant::kTiled, unchecked), reference_of(test));
  }
}

TEST(SobelKernel, GivesTheSameBytesInEverySchedule) {
  const ImageCase<std::uint8_t, float> test{35, 140, {3, 3}};
  const auto expected = reference_of(test);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedLaunch launch{.seed = seed};
    ASSERT_EQ(simulated(test, Variant::kTiled, launch), expected) << seed;
  }
}

}  // namespace
}  // namespace stoker::cuda
