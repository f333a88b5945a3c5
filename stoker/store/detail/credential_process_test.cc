#include "stoker/store/detail/credential_process.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/sanitizers.h"
#include "stoker/core/test_files.h"

namespace stoker::detail {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string shell(const std::string& script, const ProcessLimits& limits = {}) {
  return output_of({"/bin/sh", "-c", script}, limits, {});
}

TEST(SplitCommand, SplitsAtSpacesOutsideOfQuotes) {
  EXPECT_THAT(split_command("a  b\tc "), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_command(R"("/opt/my tools/get" --user "a b" 'c "d"')"),
              ElementsAre("/opt/my tools/get", "--user", "a b", "c \"d\""));
  EXPECT_THAT(split_command(R"(a\ b "c\"d\\e\f" 'g\h' x"y"z "")"),
              ElementsAre("a b", "c\"d\\e\\f", "g\\h", "xyz", ""));
}

TEST(SplitCommand, ExpandsNothing) {
  EXPECT_THAT(split_command("a $HOME ~ *.txt `b` ; c | d > e"),
              ElementsAre("a", "$HOME", "~", "*.txt", "`b`", ";", "c", "|", "d", ">", "e"));
}

TEST(SplitCommand, RefusesWhatHasNoEndOrNoProgram) {
  for (const char* wrong : {"", "  ", "\"\"", "a 'b", "a \"b", "a \\", "a \"b\\\""}) {
    EXPECT_THROW(static_cast<void>(split_command(wrong)), Error) << wrong;
  }
}

TEST(OutputOf, IsWhatTheProgramPrints) {
  EXPECT_EQ(shell("printf 'a b'; cat; echo no >&2"), "a b");  // its input is empty
  EXPECT_EQ(shell("head -c 65536 /dev/zero").size(), 65536U);
}

TEST(OutputOf, NamesWhatWentWrong) {
  const auto failure = [](const std::string& script, const ProcessLimits& limits = {}) {
    return message_of([&] { static_cast<void>(shell(script, limits)); });
  };
  EXPECT_THAT(failure("echo SECRET; exit 3"), HasSubstr("exit status 3"));
  EXPECT_THAT(failure("kill -TERM $$"), HasSubstr("exit status 143"));
  EXPECT_THAT(failure("head -c 65537 /dev/zero"), HasSubstr("more than 65536 bytes"));
  EXPECT_THAT(failure("sleep 60", {.time = 100ms}), HasSubstr("no end within 0.1 s"));
  EXPECT_THAT(failure("exec >&-; sleep 60", {.time = 100ms}), HasSubstr("no end within 0.1 s"));
  EXPECT_THAT(
      message_of([] { static_cast<void>(output_of({"/bin/there-is-no-such-program"}, {}, {})); }),
      HasSubstr("No such file"));
}

TEST(OutputOf, DoesNotWaitForAProgramThatWasLeftBehind) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(shell("echo keys; sleep 20 & exit 0"), "keys\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST(OutputOf, ATimeLimitEndsAllThatWasStarted) {
  const TempFolder folder;
  const std::string file = (folder.path() / "pid").string();
  EXPECT_THROW(
      static_cast<void>(shell("sh -c 'echo $$ >" + file + "; sleep 60'; true", {.time = 500ms})),
      Error);
  pid_t inner = 0;
  std::ifstream(file) >> inner;
  ASSERT_GT(inner, 0);
  for (int i = 0; i < 200 && ::kill(inner, 0) == 0; ++i) {
    // Ended; whoever inherits it may not have waited for it yet.
    std::ifstream status("/proc/" + std::to_string(inner) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(status), {}};
    if (text.find(") Z") != std::string::npos) return;
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_NE(::kill(inner, 0), 0);
}

TEST(OutputOf, IsGivenUpWhenStopped) {
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(static_cast<void>(output_of({"/bin/sleep", "60"}, {}, stop.get_token())), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST(OutputOf, GivesTheProgramTheSignalsOfANewOne) {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  // Bit 12 is SIGPIPE, 13.
  EXPECT_EQ(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status | grep -c '[13579bdf]...$' || true"),
            "0\n");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// UBSan's checks need descriptors of their own.
#if !STOKER_ASAN
TEST(OutputOf, WithoutDescriptorsIsAnError) {
  EXPECT_THAT(message_of([] {
                const DescriptorLimit limit(1);  // a pipe has two
                static_cast<void>(shell("true"));
              }),
              HasSubstr("Too many open files"));
}
#endif

}  // namespace
}  // namespace stoker::detail
