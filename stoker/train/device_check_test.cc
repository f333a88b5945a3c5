#include "stoker/train/device_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> lines_of(const DeviceCheck& check) {
  std::vector<std::string> lines;
  for (const CheckResult& each : check.results) {
    lines.push_back(each.name + ": " + to_string(each.status));
  }
  return lines;
}

TEST(DeviceCheck, TheCpuPassesEverything) {
  const TempFolder folder;
  int told = 0;
  const DeviceCheck check = check_device(
      c10::DeviceType::CPU, {.folder = folder.path(), .on_result = [&](const auto& device, auto&) {
                               EXPECT_EQ(device, "cpu");
                               ++told;
                             }});
  EXPECT_THAT(
      lines_of(check),
      ElementsAre("training: passed", "repeated: passed", "agrees with the CPU: passed",
                  "resume: passed", "bfloat16: passed", "float16: skipped", "kernels: passed"));
  EXPECT_TRUE(check.passed());
  EXPECT_EQ(told, 7);
  EXPECT_GT(check.samples_per_second, 0);
  EXPECT_THAT(check.results[3].detail, HasSubstr("from step 24: the same bits"));
}

// LibTorch's meta device knows shapes and no values: what is trained there cannot be right.
TEST(DeviceCheck, ADeviceThatDoesNotComputeFails) {
  const TempFolder folder;
  const DeviceCheck check = check_device(c10::DeviceType::Meta, {.folder = folder.path()});
  EXPECT_FALSE(check.passed());
  ASSERT_FALSE(check.results.empty());
  EXPECT_EQ(check.results[0].status, CheckStatus::kFailed);
  EXPECT_FALSE(check.results[0].detail.empty());
  // What needs its result says so instead of passing for nothing.
  EXPECT_EQ(check.results[3].status, CheckStatus::kFailed);
  EXPECT_THAT(check.results[3].detail, HasSubstr("training failed"));
}

TEST(DeviceCheck, TwoRanksTrainAsOneProcess) {
  const TempFolder folder;
  const CheckResult result =
      check_two_ranks(c10::DeviceType::CPU, c10::DeviceType::CPU, {.folder = folder.path()});
  EXPECT_EQ(result.status, CheckStatus::kPassed) << result.detail;
  EXPECT_THAT(result.detail, HasSubstr("identical on both"));
}

TEST(DeviceCheck, TheReportHasEverythingThatWeWouldAskFor) {
  DeviceReport report{.program = {{"stoker", "1.2.3"}},
                      .cpu = {.name = "Some CPU", .cpus = 4, .cpus_reason = "affinity"},
                      .cuda = {.devices = {{.index = 0,
                                            .name = "Some GPU",
                                            .memory_bytes = 16'000'000'000,
                                            .capability = "7.5"}},
                               .driver = "13.0",
                               .runtime = "12.8",
                               .cudnn = "90100"},
                      .devices = {{.device = "cuda:0",
                                   .results = {{.name = "resume",
                                                .status = CheckStatus::kFailed,
                                                .detail = "a|b\nc",
                                                .seconds = 1.5}},
                                   .kernel_tables = "| way | ms |\n"}}};
  const std::string text = to_markdown(report);
  for (const char* part :
       {"stoker: 1.2.3", "Some CPU, 4 CPUs", "driver 13.0", "runtime 12.8", "cuDNN 90100",
        "cuda:0: Some GPU, 16.0 GB, compute capability 7.5",
        "| cuda:0 | resume | FAILED | 1.50 | a b c |", "| way | ms |", "Result: FAILED"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  report.cuda = {.reason = "no NVIDIA driver"};
  report.devices[0].results[0].status = CheckStatus::kPassed;
  EXPECT_THAT(to_markdown(report), HasSubstr("accelerators: none: no NVIDIA driver"));
  EXPECT_THAT(to_markdown(report), HasSubstr("Result: all passed"));
}

}  // namespace
}  // namespace stoker
