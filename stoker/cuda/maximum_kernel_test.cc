#include "stoker/cuda/maximum_kernel.h"

#include <gtest/gtest.h>

#include "stoker/cuda/test_launch.h"
#include "stoker/kernels/maximum/maximum.h"

namespace stoker::cuda {
namespace {

template <class T>
std::vector<T> expected_maximum(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> out(a.size());
  const int count = static_cast<int>(a.size());
  maximum_reference({out.data(), 1, count}, Plane<const T>{a.data(), 1, count},
                    Plane<const T>{b.data(), 1, count});
  return out;
}

template <class T>
class MaximumKernel : public testing::Test {};
using Types = testing::Types<std::uint8_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(MaximumKernel, Types, );

TYPED_TEST(MaximumKernel, EqualsTheReferenceForAllLengthsAddressesAndSchedules) {
  for (const std::size_t count : {0, 1, 2, 15, 16, 17, 63, 64, 65, 999, 1000, 1001, 5003}) {
    const auto a = random_values<TypeParam>(count, 1), b = random_values<TypeParam>(count, 2);
    const auto expected = expected_maximum(a, b);
    for (const std::size_t skipped : {0, 1}) {
      const Buffer<TypeParam> left("a", a, skipped), right("b", b);
      for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
        Buffer<TypeParam> out("out", std::vector<TypeParam>(count));
        SimulatedLaunch launch{.seed = count + skipped};
        run_maximum<TypeParam>(launch, out.output(), left.input(), right.input(),
                               static_cast<std::int64_t>(count), variant);
        ASSERT_EQ(out.values(), expected) << count << " " << skipped;
      }
    }
  }
}

TYPED_TEST(MaximumKernel, GoesOnWhereTheGridIsSmallerThanTheWork) {
  const auto a = random_values<TypeParam>(1000, 1), b = random_values<TypeParam>(1000, 2);
  const Buffer<TypeParam> left("a", a), right("b", b);
  for (const auto kernel : {maximum_kernel<TypeParam>, maximum_packed_kernel<TypeParam>}) {
    Buffer<TypeParam> out("out", std::vector<TypeParam>(1000));
    SimulatedLaunch launch;
    launch(kernel, {2}, {8}, out.output(), left.input(), right.input(), std::int64_t{1000});
    EXPECT_EQ(out.values(), expected_maximum(a, b));
  }
}

TEST(MaximumKernel1000, TakesAThousandBlocksOfAThousandThreads) {
  const auto a = random_values<std::int32_t>(1000000, 3, 0, 255);
  const auto b = random_values<std::int32_t>(1000000, 4, 0, 255);
  const Buffer<std::int32_t> left("a", a), right("b", b);
  Buffer<std::int32_t> out("out", std::vector<std::int32_t>(1000000));
  SimulatedLaunch launch;
  run_maximum<std::int32_t>(launch, out.output(), left.input(), right.input(), 1000000,
                            Variant::kPlain);
  EXPECT_EQ(launch.grid.x, 1000U);
  EXPECT_EQ(launch.block.x, 1000U);
  EXPECT_EQ(out.values(), expected_maximum(a, b));
}

}  // namespace
}  // namespace stoker::cuda
