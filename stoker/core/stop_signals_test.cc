#include "stoker/core/stop_signals.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stoker {
namespace {

TEST(StopSignals, EachKindIsAWishToStop) {
  std::signal(SIGHUP, SIG_DFL);  // nohup ignores it for the tests too
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) {
    const StopSignals signals;
    EXPECT_EQ(signals.received(), 0);
    std::raise(signal);
    EXPECT_EQ(signals.received(), signal);
  }
}

TEST(StopSignals, TheSecondOneEndsTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    const StopSignals signals;
    std::raise(SIGTERM);
    std::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(StopSignals, ATerminalThatClosesMayHangUpTwice) {
  std::signal(SIGHUP, SIG_DFL);
  const StopSignals signals;
  std::raise(SIGHUP);
  std::raise(SIGHUP);  // would end this process
  EXPECT_EQ(signals.received(), SIGHUP);
}

TEST(StopSignals, UnderNohupAHangupIsNoWishToStop) {
  const auto old = std::signal(SIGHUP, SIG_IGN);
  {
    const StopSignals signals;
    std::raise(SIGHUP);
    EXPECT_EQ(signals.received(), 0);
  }
  EXPECT_EQ(std::signal(SIGHUP, old), SIG_IGN);
}

TEST(StopSignals, TheOldHandlerComesBack) {
  static int seen = 0;
  const auto old = std::signal(SIGUSR1, [](int) { ++seen; });
  { const StopSignals signals; }
  std::raise(SIGUSR1);
  EXPECT_EQ(seen, 1);
  std::signal(SIGUSR1, old);
}

}  // namespace
}  // namespace stoker
