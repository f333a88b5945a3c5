#include "stoker/store/retry.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::HasSubstr;
using testing::Not;

const AttemptFailed kBusy("busy", true);

steady_clock::duration time_of(const std::function<void()>& action) {
  const auto start = steady_clock::now();
  action();
  return steady_clock::now() - start;
}

RetryOptions with_waits(milliseconds first, milliseconds longest, int tries = 100) {
  return {.tries = tries, .first_wait = first, .longest_wait = longest};
}

TEST(Retries, WaitTwiceAsLongEachTime) {
  Retries retries(with_waits(milliseconds(16), milliseconds(10'000)), "p", {});
  for (const int least_ms : {8, 16, 32, 64}) {
    EXPECT_GE(time_of([&] { retries.after(kBusy); }), milliseconds(least_ms));
  }
}

TEST(Retries, WaitNoLongerThanTheLongestWait) {
  Retries retries(with_waits(milliseconds(500), milliseconds(5)), "p", {});
  EXPECT_LT(time_of([&] {
              for (int i = 0; i < 4; ++i) retries.after(kBusy);
            }),
            seconds(2));
}

TEST(Retries, WaitAfterAnyNumberOfFailures) {
  Retries retries(with_waits(milliseconds(1), milliseconds(4)), "p", {});
  for (int i = 0; i < 3; ++i) retries.after(kBusy);
  for (int i = 0; i < 40; ++i) {  // more doublings than an int has bits
    EXPECT_GE(time_of([&] { retries.after(kBusy); }), milliseconds(2)) << i;
  }
}

TEST(Retries, SpreadTheirWaits) {
  auto shortest = steady_clock::duration::max();
  for (int i = 0; i < 8; ++i) {
    Retries retries(with_waits(milliseconds(40), milliseconds(40)), "p", {});
    shortest = std::min(shortest, time_of([&] { retries.after(kBusy); }));
  }
  EXPECT_GE(shortest, milliseconds(20));
  EXPECT_LT(shortest, milliseconds(40));
}

TEST(Retries, WaitAsLongAsTheServerAsksForWithinTheLongestWait) {
  Retries longer(with_waits(milliseconds(1), milliseconds(60)), "p", {});
  const auto waited = time_of([&] { longer.after(AttemptFailed("busy", true, seconds(3000))); });
  EXPECT_GE(waited, milliseconds(60));
  EXPECT_LT(waited, seconds(60));
  Retries shorter(with_waits(milliseconds(60), milliseconds(60)), "p", {});
  EXPECT_GE(time_of([&] { shorter.after(AttemptFailed("busy", true, seconds(0))); }),
            milliseconds(30));
}

TEST(WithRetries, GivesWhatTheFirstGoodAttemptReturns) {
  int calls = 0;
  const int found = with_retries(with_waits(milliseconds(1), milliseconds(1), 3), "p", {}, [&] {
    if (++calls < 3) throw kBusy;
    return 7;
  });
  EXPECT_EQ(found, 7);
  EXPECT_EQ(calls, 3);
}

TEST(WithRetries, EndsAfterTheLastTryAndNamesPathReasonAndNumber) {
  int calls = 0;
  const std::string message = message_of([&] {
    with_retries(with_waits(milliseconds(1), milliseconds(1), 4), "s3://b/o", {}, [&] {
      ++calls;
      throw kBusy;
    });
  });
  EXPECT_EQ(calls, 4);
  EXPECT_THAT(message, HasSubstr("s3://b/o"));
  EXPECT_THAT(message, HasSubstr("busy, at the last of 4 tries"));
  EXPECT_THAT(message, HasSubstr("down, overloaded"));
}

TEST(WithRetries, MakesOneAttemptWhereAnotherWouldFailAsWell) {
  int calls = 0;
  const std::string message = message_of([&] {
    with_retries(with_waits(milliseconds(1), milliseconds(1)), "p", {}, [&] {
      ++calls;
      throw AttemptFailed("forbidden", false);
    });
  });
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(message, HasSubstr("forbidden"));
  EXPECT_THAT(message, Not(HasSubstr("tries")));
  EXPECT_THAT(message, HasSubstr("Check the address"));
}

TEST(WithRetries, LetsOtherExceptionsThrough) {
  int calls = 0;
  EXPECT_THROW(with_retries(with_waits(milliseconds(1), milliseconds(1)), "p", {},
                            [&] {
                              ++calls;
                              throw std::out_of_range("ours");
                            }),
               std::out_of_range);
  EXPECT_EQ(calls, 1);
}

TEST(Retries, AStopEndsTheWaitAndTheNextFailureIsTheLast) {
  std::stop_source stop;
  Retries retries(with_waits(milliseconds(60'000), milliseconds(60'000)), "p", stop.get_token());
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(20));
    stop.request_stop();
  });
  EXPECT_LT(time_of([&] { retries.after(kBusy); }), seconds(20));
  EXPECT_THAT(message_of([&] { retries.after(kBusy); }), HasSubstr("given up: p"));
}

}  // namespace
}  // namespace stoker
