#include "stoker/cuda/kernel_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::cuda {
namespace {

// On a machine without a GPU it must say so; with one, every kernel equals its reference.
TEST(CudaKernelCheck, EqualsTheReferencesOrSaysPlainlyThatThereIsNoGpu) {
  const KernelCheck result = check_cuda_kernels(0);
  if (result.compared == 0) {
    EXPECT_THAT(result.problem, ::testing::StartsWith("no CUDA device: "));
    return;
  }
  EXPECT_THAT(result.different, ::testing::IsEmpty());
  EXPECT_EQ(result.problem, "");
  EXPECT_THAT(result.tables, ::testing::HasSubstr("R18"));
}

}  // namespace
}  // namespace stoker::cuda
