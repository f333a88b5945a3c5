#include "stoker/kernels/kernel_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

TEST(KernelCheck, AllVersionsEqualTheReferences) {
  const std::string before = active_simd();
  const KernelCheck check = check_cpu_kernels();
  EXPECT_THAT(check.different, ::testing::IsEmpty());
  EXPECT_EQ(check.problem, "");
  // 5 pairs of types with 4 kernels each, Sobel for 3 of them, 3 maxima, 2 Gram matrices, 4 shapes.
  EXPECT_EQ(check.compared, static_cast<int>(available_simd().size()) * 4 * (20 + 12 + 3 + 2));
  EXPECT_EQ(active_simd(), before);
}

}  // namespace
}  // namespace stoker
