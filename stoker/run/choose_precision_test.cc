#include "stoker/run/choose_precision.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

const CpuFacts kPlain{.instruction_sets = {"avx2", "avx512_bf16"}};
const CpuFacts kAmx{.instruction_sets = {"avx2", "amx_bf16"}};
const CudaFacts kGpus{.devices = {{.index = 0, .capability = "7.5"},
                                  {.index = 1, .capability = "12.0"},
                                  {.index = 2, .capability = "unknown"}}};

TEST(ChooseMixedPrecision, FollowsTheCpuFeatures) {
  const c10::Device cpu(c10::kCPU);
  EXPECT_FALSE(choose_mixed_precision(cpu, kPlain, {}).amp);
  EXPECT_TRUE(choose_mixed_precision(cpu, kAmx, {}).amp);
  EXPECT_EQ(choose_mixed_precision(cpu, kAmx, kGpus).reason, "this CPU has AMX");
}

TEST(ChooseMixedPrecision, FollowsTheComputeCapability) {
  const auto amp = [](c10::DeviceIndex index) {
    return choose_mixed_precision({c10::kCUDA, index}, kAmx, kGpus).amp;
  };
  EXPECT_FALSE(amp(0));
  EXPECT_TRUE(amp(1));
  EXPECT_FALSE(amp(2));
  EXPECT_FALSE(amp(3));
}

}  // namespace
}  // namespace stoker
