#include "stoker/core/abandoned_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

// The number of a process that has ended.
int ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(AbandonedFiles, AreNamedAfterTheirProcess) {
  EXPECT_EQ(process_of_temporary(".stoker-123-4.tmp"), 123);
  EXPECT_EQ(process_of_temporary("stoker-shards-77-AbCdEf"), 77);
  for (const char* other : {".stoker-123.tmp", ".stoker-x-4.tmp", ".stoker--4-4.tmp", "a.tmp",
                            "stoker-shards-AbCdEf", ".stoker-123-4", "shard-000001.tar", ""}) {
    EXPECT_EQ(process_of_temporary(other), 0) << other;
  }
}

TEST(AbandonedFiles, OfEndedProcessesAreRemovedAndNothingElse) {
  TempFolder folder;
  const int ended = ended_process();
  folder.write(fmt::format(".stoker-{}-0.tmp", ended), {1, 2, 3});
  folder.write(fmt::format("stoker-shards-{}-AbCdEf/shard-000000.tar", ended), {1});
  const auto own = folder.write(fmt::format(".stoker-{}-0.tmp", ::getpid()), {1});
  const auto first = folder.write(".stoker-1-0.tmp", {1});  // init, which may not be ours
  const auto shard = folder.write("shard-000000.tar", {1});
  EXPECT_EQ(remove_abandoned_files(folder.path()), 2U);
  for (const auto& path : {own, first, shard}) EXPECT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(remove_abandoned_files(folder.path()), 0U);
  EXPECT_EQ(remove_abandoned_files(folder.path() / "missing"), 0U);
}

}  // namespace
}  // namespace stoker
