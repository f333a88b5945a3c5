#include "stoker/core/cpu_budget.h"

#include <fstream>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// A made-up machine: environment, affinity and a cgroup tree in a folder of the test's own.
class CpuBudgetTest : public testing::Test {
 protected:
  CpuBudgetTest()
      : root_(fs::path(testing::TempDir()) / ("stoker_cpu_budget_" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~CpuBudgetTest() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] CpuBudget budget() const {
    return cpu_budget({.environment = [this](const char* name) -> std::optional<std::string> {
                         const auto found = environment_.find(name);
                         if (found == environment_.end()) return std::nullopt;
                         return found->second;
                       },
                       .affinity = [this] { return affinity_; },
                       .proc_cgroup = root_ / "proc",
                       .cgroup_root = root_ / "cgroup"});
  }

  fs::path root_;
  std::map<std::string, std::string> environment_;
  int affinity_ = 16;
};

TEST_F(CpuBudgetTest, SlurmComesFirst) {
  environment_["SLURM_CPUS_PER_TASK"] = "8";
  affinity_ = 2;
  EXPECT_EQ(budget().cpus, 8);
  EXPECT_EQ(budget().reason, "SLURM_CPUS_PER_TASK=8");
}

TEST_F(CpuBudgetTest, NonsenseFromSlurmIsAnError) {
  for (const char* text : {"", "0", "-1", "eight", "4x"}) {
    environment_["SLURM_CPUS_PER_TASK"] = text;
    EXPECT_THROW(static_cast<void>(budget()), Error) << text;
  }
}

TEST_F(CpuBudgetTest, WithoutSlurmTheAffinityCounts) {
  EXPECT_EQ(budget().cpus, 16);
  EXPECT_THAT(budget().reason, testing::HasSubstr("affinity"));
}

TEST_F(CpuBudgetTest, CgroupV2QuotaBindsWhereItIsSmaller) {
  write("proc", "0::/user/job\n");
  write("cgroup/user/job/cpu.max", "350000 100000\n");
  EXPECT_EQ(budget().cpus, 4);  // three and a half: the half can be used too
  affinity_ = 2;
  EXPECT_EQ(budget().cpus, 2);
}

TEST_F(CpuBudgetTest, ParentsOfTheCgroupBindToo) {
  write("proc", "0::/user/job\n");
  write("cgroup/user/job/cpu.max", "max 100000\n");
  write("cgroup/user/cpu.max", "500000 100000\n");
  EXPECT_EQ(budget().cpus, 5);
}

TEST_F(CpuBudgetTest, CgroupV1QuotaIsRead) {
  write("proc", "5:memory:/job\n4:cpu,cpuacct:/job\n");
  write("cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n");
  write("cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(budget().cpus, 2);
}

TEST_F(CpuBudgetTest, NoQuotaMeansNoLimit) {
  write("proc", "4:cpu:/job\n0::/job\n");
  write("cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  write("cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(budget().cpus, 16);
}

TEST_F(CpuBudgetTest, AHundredthOfACpuIsStillOne) {
  write("proc", "0::/\n");
  write("cgroup/cpu.max", "1000 100000\n");
  EXPECT_EQ(budget().cpus, 1);
}

TEST(CpuBudget, AtLeastTwoWorkers) {
  EXPECT_EQ(default_workers({.cpus = 1, .reason = ""}), 2);
  EXPECT_EQ(default_workers({.cpus = 2, .reason = ""}), 2);
  EXPECT_EQ(default_workers({.cpus = 32, .reason = ""}), 32);
}

// On the real machine: a thread bound to one CPU finds one.
TEST(CpuBudget, FollowsTheRealAffinity) {
  int cpus = 0;
  std::jthread([&cpus] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    cpus = system_cpu_budget_sources().affinity();
  }).join();
  EXPECT_EQ(cpus, 1);
}

}  // namespace
}  // namespace stoker
