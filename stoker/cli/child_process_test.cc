#include "stoker/cli/child_process.h"

#include <csignal>

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(EndingText, NamesTheSignalThatEndedAProcess) {
  EXPECT_EQ(ending_text(1), "exit code 1");
  EXPECT_EQ(ending_text(128), "exit code 128");
  EXPECT_EQ(ending_text(128 + SIGSEGV), "killed by SIGSEGV");
  EXPECT_EQ(ending_text(128 + SIGKILL),
            "killed by SIGKILL: by the system, perhaps for want of memory");
  EXPECT_EQ(ending_text(255), "exit code 255");
}

}  // namespace
}  // namespace stoker
