#include "stoker/store/aws_credentials.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using Moment = AwsCredentialSource::Moment;

// An issuer whose n-th keys are "n", for an hour from the time of its clock.
struct FakeIssuer {
  std::atomic<int> asked{0};
  std::atomic<Moment::rep> now{(Moment{} + 1000h).time_since_epoch().count()};
  std::atomic<bool> broken{false};
  std::chrono::seconds life{3600};
  std::chrono::milliseconds takes{0};

  [[nodiscard]] Moment time() const { return Moment(Moment::duration(now)); }
  void pass(std::chrono::seconds time) { now += Moment::duration(time).count(); }
  AwsCredentialSource source() {
    return {
        "key",
        [this](const std::stop_token& stop) -> IssuedCredentials {
          const int number = ++asked;
          for (auto slept = 0ms; slept < takes && !stop.stop_requested(); slept += 1ms) {
            std::this_thread::sleep_for(1ms);
          }
          if (broken || stop.stop_requested()) throw Error({.what = "no keys", .hint = "Hint"});
          return {.keys = {std::to_string(number), "secret", "token"}, .expires = time() + life};
        },
        [this] { return time(); }};
  }
};

TEST(CheckCredentials, RefusesHalvesAndWhatWouldAddHeaders) {
  EXPECT_NO_THROW(check_credentials({"id", "se/cret+=", ""}));
  for (const AwsCredentials& wrong :
       {AwsCredentials{"id", "", ""}, AwsCredentials{"", "secret", ""},
        AwsCredentials{"id\r\nX-Evil: 1", "SECRET", ""}, AwsCredentials{"id", "SEC RET", ""},
        AwsCredentials{"id", "SECRET", "TOKEN\n"}, AwsCredentials{"id", "SECRET", "t\xC3\xA9"},
        AwsCredentials{"id", "SECRET", std::string(20'000, 't')}}) {
    const std::string message = message_of([&] { check_credentials(wrong); });
    EXPECT_THAT(message, HasSubstr("S3 credentials"));
    EXPECT_THAT(message, Not(HasSubstr("SEC")));
  }
}

TEST(CredentialSource, WithFixedKeysAsksNobody) {
  const AwsCredentialSource source({"id", "secret", ""});
  EXPECT_EQ(source.get().key_id, "id");
  EXPECT_EQ(source.key(), "");
}

TEST(CredentialSource, AsksAgainAQuarterOfAnHourBeforeKeysExpire) {
  FakeIssuer issuer;
  const AwsCredentialSource source = issuer.source();
  EXPECT_EQ(issuer.asked, 0);
  EXPECT_EQ(source.get().key_id, "1");
  issuer.pass(44min);
  EXPECT_EQ(source.get().key_id, "1");
  issuer.pass(2min);
  EXPECT_EQ(source.get().key_id, "2");
}

TEST(CredentialSource, AsksForKeysOfAShortLifeAfterTwoThirdsOfIt) {
  FakeIssuer issuer;
  issuer.life = 60s;
  const AwsCredentialSource source = issuer.source();
  EXPECT_EQ(source.get().key_id, "1");
  issuer.pass(39s);
  EXPECT_EQ(source.get().key_id, "1");
  issuer.pass(2s);
  EXPECT_EQ(source.get().key_id, "2");
}

TEST(CredentialSource, KeepsValidKeysWhileTheIssuerFails) {
  FakeIssuer issuer;
  const AwsCredentialSource source = issuer.source();
  static_cast<void>(source.get());
  issuer.broken = true;
  issuer.pass(50min);
  EXPECT_EQ(source.get().key_id, "1");
  EXPECT_EQ(source.get().key_id, "1");
  EXPECT_EQ(issuer.asked, 2);  // not again at once
  issuer.pass(31s);
  EXPECT_EQ(source.get().key_id, "1");
  EXPECT_EQ(issuer.asked, 3);
  issuer.pass(10min);  // expired
  EXPECT_THAT(message_of([&] { static_cast<void>(source.get()); }), HasSubstr("no keys. Hint"));
  issuer.broken = false;
  EXPECT_EQ(source.get().key_id, "5");
}

TEST(CredentialSource, RefusesKeysThatHaveExpired) {
  FakeIssuer issuer;
  issuer.life = -1s;
  const AwsCredentialSource source = issuer.source();
  EXPECT_THAT(message_of([&] { static_cast<void>(source.get()); }), HasSubstr("have expired"));
}

TEST(CredentialSource, AsksOnceForManyThreads) {
  FakeIssuer issuer;
  issuer.takes = 20ms;
  const AwsCredentialSource source = issuer.source();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(source.get().key_id, "1"); });
  }
  threads.clear();
  EXPECT_EQ(issuer.asked, 1);
}

TEST(CredentialSource, WhileOneAsksTheOthersUseValidKeys) {
  FakeIssuer issuer;
  const AwsCredentialSource source = issuer.source();
  static_cast<void>(source.get());
  issuer.pass(50min);
  issuer.takes = 10'000ms;
  std::jthread refresher([&](const std::stop_token& stop) {
    EXPECT_EQ(source.get(stop).key_id, "1");  // it is stopped, and these are still valid
  });
  while (issuer.asked < 2) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(source.get().key_id, "1");
  EXPECT_EQ(issuer.asked, 2);
}

TEST(CredentialSource, TellsAllWhoWaitOfOneFailure) {
  FakeIssuer issuer;
  issuer.takes = 300ms;
  issuer.broken = true;
  const AwsCredentialSource source = issuer.source();
  std::atomic<int> failures{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_THROW(static_cast<void>(source.get()), Error);
      ++failures;
    });
    while (issuer.asked < 1) std::this_thread::sleep_for(1ms);
  }
  threads.clear();
  EXPECT_EQ(failures, 4);
  EXPECT_LT(issuer.asked, 4);  // a thread that starts late asks again
}

TEST(CredentialSource, AStopEndsTheWaitAndIsNobodyElsesFailure) {
  FakeIssuer issuer;
  issuer.takes = 200ms;
  const AwsCredentialSource source = issuer.source();
  std::stop_source stop;
  std::jthread stopped(
      [&] { EXPECT_THROW(static_cast<void>(source.get(stop.get_token())), Error); });
  while (issuer.asked < 1) std::this_thread::sleep_for(1ms);
  std::jthread waits([&] { EXPECT_EQ(source.get().key_id, "2"); });
  std::this_thread::sleep_for(10ms);
  stop.request_stop();
}

TEST(SharedCredentials, AreOneSourceForAKey) {
  const auto first = std::make_shared<AwsCredentialSource>(
      "shared-credentials-test", [](const std::stop_token&) { return IssuedCredentials{}; });
  const auto second = std::make_shared<AwsCredentialSource>(
      "shared-credentials-test", [](const std::stop_token&) { return IssuedCredentials{}; });
  EXPECT_EQ(shared_credentials(first), first);
  EXPECT_EQ(shared_credentials(second), first);
  EXPECT_EQ(shared_credentials(nullptr), nullptr);
  const auto fixed = std::make_shared<AwsCredentialSource>(AwsCredentials{"a", "b", ""});
  const auto other = std::make_shared<AwsCredentialSource>(AwsCredentials{"c", "d", ""});
  EXPECT_EQ(shared_credentials(fixed), fixed);
  EXPECT_EQ(shared_credentials(other), other);
}

}  // namespace
}  // namespace stoker
