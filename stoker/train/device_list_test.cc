#include "stoker/train/device_list.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using ::testing::HasSubstr;

// Beside this program (test_cuda_driver.cc).
std::string test_driver() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libtest_cuda_driver.so";
}

TEST(DeviceList, DescribesTheDevicesOfADriver) {
  const CudaFacts facts = driver_facts(test_driver());
  EXPECT_EQ(facts.driver, "12.8");
  EXPECT_EQ(facts.reason, "2 CUDA devices");
  ASSERT_EQ(facts.devices.size(), 2U);
  EXPECT_EQ(facts.devices[0].name, "Made-up T40");
  EXPECT_EQ(facts.devices[1].name, "Made-up T41");
  EXPECT_EQ(facts.devices[1].index, 1);
  EXPECT_EQ(facts.devices[1].memory_bytes, std::uint64_t{16} << 30);
  EXPECT_EQ(facts.devices[0].capability, "7.5");
  EXPECT_EQ(facts.devices[1].capability, "7.6");
}

TEST(DeviceList, SaysWhyThereIsNoDevice) {
  const CudaFacts none = driver_facts("libno_such_driver.so.1");
  EXPECT_TRUE(none.devices.empty());
  EXPECT_THAT(none.reason, HasSubstr("libno_such_driver.so.1"));
  const CudaFacts other = driver_facts("libc.so.6");
  EXPECT_TRUE(other.devices.empty());
  EXPECT_THAT(other.reason, HasSubstr("lacks functions"));
  ::setenv("STOKER_TEST_CUDA_BROKEN", "1", 1);
  const CudaFacts broken = driver_facts(test_driver());
  ::unsetenv("STOKER_TEST_CUDA_BROKEN");
  EXPECT_TRUE(broken.devices.empty());
  EXPECT_THAT(broken.reason, HasSubstr("error 803"));
  EXPECT_EQ(broken.driver, "12.8");
}

TEST(DeviceList, DescribesThisCpu) {
  const CpuFacts facts = cpu_facts();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_GE(facts.cpus, 1);
  EXPECT_FALSE(facts.cpus_reason.empty());
  EXPECT_FALSE(facts.kernels.empty());
  EXPECT_GT(facts.memory_bytes, std::uint64_t{1} << 28);
  EXPECT_LE(facts.free_bytes, facts.memory_bytes);
}

TEST(DeviceList, VersionsAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(cuda_version_text(12080), "12.8");
}

}  // namespace
}  // namespace stoker
