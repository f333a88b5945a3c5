#include "stoker/core/memory_limit.h"

#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A made-up tree of control groups.
class MemoryLimitTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    folder_.write(path, Bytes(text.begin(), text.end()));
  }
  [[nodiscard]] std::uint64_t limit() const {
    return memory_limit({.proc_cgroup = folder_.path() / "proc", .root = folder_.path()});
  }

 private:
  TempFolder folder_;
};

TEST_F(MemoryLimitTest, IsTheMachinesWithoutAGroup) { EXPECT_EQ(limit(), physical_memory()); }

TEST_F(MemoryLimitTest, IsTheSmallestOfTheGroupAndThoseAboveIt) {
  write("proc", "0::/job/step\n");
  write("job/memory.max", "300000000\n");
  write("job/step/memory.max", "500000000\n");
  EXPECT_EQ(limit(), 300'000'000U);
  write("job/step/memory.max", "200000000\n");
  EXPECT_EQ(limit(), 200'000'000U);
}

TEST_F(MemoryLimitTest, KnowsTheFirstVersionOfControlGroups) {
  write("proc", "5:cpu,cpuacct:/x\n4:memory:/job\n");
  write("memory/job/memory.limit_in_bytes", "123456789\n");
  EXPECT_EQ(limit(), 123'456'789U);
}

TEST_F(MemoryLimitTest, IgnoresWhatIsNoLimit) {
  write("proc", "0::/job\n4:memory:/job\n");
  write("job/memory.max", "max\n");
  write("memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), physical_memory());
}

}  // namespace
}  // namespace stoker
