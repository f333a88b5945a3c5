#include "stoker/distributed/detail/guarded_store.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "stoker/distributed/detail/attempt.h"
#include "stoker/distributed/detail/network.h"
#include "stoker/distributed/detail/sealed_store.h"
#include "stoker/distributed/detail/store_gate.h"
#include "stoker/distributed/test_ranks.h"

namespace stoker::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kJobSecret(32, 's'), kOtherSecret(32, 't');

GroupOptions with_secret(seconds timeout = seconds(20)) {
  return {.timeout = timeout, .secret = kJobSecret};
}

Launch launch_of(int rank, int ranks, int port) {
  return read_launch({.rank = rank, .ranks = ranks, .master_port = port},
                     [](const char*) { return std::nullopt; });
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

// Connections to a port, of somebody who never says a word, or garbage.
struct Strangers {
  std::vector<std::unique_ptr<Descriptor>> sockets;
  void come(int port, int count, const std::string& say = "") {
    for (int i = 0; i < count; ++i) {
      sockets.push_back(
          std::make_unique<Descriptor>(connect_to("127.0.0.1", static_cast<std::uint16_t>(port),
                                                  std::chrono::steady_clock::now() + seconds(2))));
      ::send(sockets.back()->number, say.data(), say.size(), MSG_NOSIGNAL);
    }
  }
};

struct Both {
  int port = test::free_port();
  KeptStore kept = keep_store(listen_at("127.0.0.1", static_cast<std::uint16_t>(port)), kJobSecret,
                              milliseconds(5000));
  c10::intrusive_ptr<c10d::Store> joined =
      join_store("127.0.0.1", static_cast<std::uint16_t>(port), kJobSecret, milliseconds(5000));
};

TEST(GuardedStore, RanksReadWhatOthersWrote) {
  Both both;
  both.joined->set("key", "from 1");
  EXPECT_EQ(both.kept.store->get_to_str("key"), "from 1");
  EXPECT_EQ(both.kept.store->add("n", 2), 2);
  EXPECT_EQ(both.joined->clone()->add("n", 3), 5);
  EXPECT_TRUE(both.joined->check({"key", "n"}));
  EXPECT_FALSE(both.joined->check({"key", "none"}));
  EXPECT_EQ(both.joined->getNumKeys(), 2);
  EXPECT_TRUE(both.joined->deleteKey("key"));
  EXPECT_FALSE(both.kept.store->check({"key"}));
}

TEST(GuardedStore, AWaitEndsWithTheKeyOrAtItsTimeout) {
  Both both;
  std::jthread writer([&] {
    std::this_thread::sleep_for(milliseconds(700));  // longer than one request waits
    both.kept.store->set("late", "value");
  });
  EXPECT_EQ(both.joined->get_to_str("late"), "value");
  EXPECT_THAT(error_of([&] { both.joined->wait({"never"}, milliseconds(50)); }),
              HasSubstr("nobody wrote never within 50 ms"));
}

TEST(GuardedStore, TheEndOfRank0EndsTheOthersWaits) {
  Both both;
  std::jthread ending([&] {
    std::this_thread::sleep_for(milliseconds(50));
    both.kept = {};
  });
  EXPECT_NE(error_of([&] { both.joined->wait({"never"}); }), "none");
  EXPECT_THAT(error_of([&] { both.joined->set("key", "value"); }), HasSubstr("is lost"));
}

TEST(GuardedStore, AnotherSecretIsRefusedAtOnceAndCounted) {
  Both both;
  EXPECT_THAT(error_of([&] {
                static_cast<void>(join_store("127.0.0.1", static_cast<std::uint16_t>(both.port),
                                             kOtherSecret, milliseconds(5000)));
              }),
              AllOf(HasSubstr("rank 0 refused this rank"), HasSubstr("dist_secret_file")));
  // It is counted after the answer was sent.
  for (int i = 0; i < 500 && both.kept.refusals().empty(); ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(both.kept.refusals(),
            "1 connection was refused, the last from 127.0.0.1: another secret");
}

// More silent ones than there is room for: a rank comes in all the same.
TEST(GuardedStore, StrangersDoNotKeepARankOut) {
  Both both;
  Strangers strangers;
  strangers.come(both.port, static_cast<int>(StoreGate::kMostStrangers) + 20);
  strangers.come(both.port, 10, std::string(10'000, 'x'));
  const auto begin = std::chrono::steady_clock::now();
  const auto late = join_store("127.0.0.1", static_cast<std::uint16_t>(both.port), kJobSecret,
                               milliseconds(5000));
  late->set("key", "value");
  EXPECT_EQ(both.joined->get_to_str("key"), "value");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(2));
  EXPECT_THAT(both.kept.refusals(), HasSubstr("connections were refused"));
}

// c10d's own protocol gets no answer, so no key can be written or read with it.
TEST(GuardedStore, KeysOfStrangersAreRefused) {
  Both both;
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(both.port);
  options.timeout = milliseconds(500);
  EXPECT_ANY_THROW(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options)->set("key", {1}));
  EXPECT_FALSE(both.kept.store->check({"key", "/key"}));
  EXPECT_EQ(both.kept.store->getNumKeys(), 0);
}

TEST(GuardedStore, AListenerThatIsSilentIsLeftAtTheTimeout) {
  const int port = test::free_port();
  const Descriptor silent(listen_at("127.0.0.1", static_cast<std::uint16_t>(port)));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of([&] {
                static_cast<void>(join_store("127.0.0.1", static_cast<std::uint16_t>(port),
                                             kJobSecret, milliseconds(600)));
              }),
              HasSubstr("nothing that knows the secret answers"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(2));
}

TEST(Group, RanksWithASecretSumWhileStrangersConnect) {
  const int port = test::free_port();
  std::vector<std::jthread> threads;
  std::vector<std::string> failures(3);
  std::jthread stranger([&](const std::stop_token& stop) {
    Strangers strangers;
    while (!stop.stop_requested() && strangers.sockets.size() < 200) {
      try {
        strangers.come(port, 1, "garbage");
      } catch (const Error&) {  // rank 0 does not listen yet, or any more
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
  });
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      failures[static_cast<std::size_t>(rank)] = error_of([&] {
        std::this_thread::sleep_for(milliseconds(50 * rank));
        Group group(launch_of(rank, 3, port), with_secret());
        const at::Tensor mine = at::full({5}, rank + 1.0);
        group.sum(mine, "test");
        EXPECT_TRUE(at::equal(mine, at::full({5}, 6.0)));
        group.leave();
      });
    });
  }
  threads.clear();
  EXPECT_THAT(failures, ::testing::Each("none"));
}

TEST(Group, RankZeroTellsWhomItRefused) {
  const int port = test::free_port();
  std::string of_0, of_1, without;
  {
    std::jthread zero([&] {
      of_0 = error_of([&] { const Group group(launch_of(0, 3, port), with_secret(seconds(3))); });
    });
    std::jthread one([&] {
      of_1 = error_of([&] {
        const Group group(launch_of(1, 3, port), {.timeout = seconds(3), .secret = kOtherSecret});
      });
    });
    std::jthread two([&] {
      without =
          error_of([&] { const Group group(launch_of(2, 3, port), {.timeout = seconds(3)}); });
    });
  }
  EXPECT_THAT(of_0,
              AllOf(HasSubstr("nothing from rank 1, 2"), HasSubstr("refused, the last from")));
  EXPECT_THAT(of_1, HasSubstr("rank 0 refused this rank"));
  EXPECT_THAT(without, HasSubstr("this rank needs the same"));
}

// Without a secret too: what accepts and is silent must not hold a rank longer than its timeout.
TEST(Group, ASilentListenerEndsARankInTime) {
  for (const std::string& secret : {std::string(), kJobSecret}) {
    const int port = test::free_port();
    const Descriptor silent(listen_at("127.0.0.1", static_cast<std::uint16_t>(port)));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(error_of([&] {
                  const Group group(launch_of(1, 2, port),
                                    {.timeout = seconds(2), .secret = secret});
                }),
                HasSubstr("did not meet the others"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2500));
  }
}

// Without a secret: what stands in the store before the ranks come is none of theirs.
TEST(Group, KeysWrittenBeforeTheStartDoNoHarm) {
  const int port = test::free_port();
  std::vector<std::jthread> threads;
  std::vector<std::string> failures(2);
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      failures[static_cast<std::size_t>(rank)] = error_of([&] {
        if (rank == 1) {
          c10d::TCPStoreOptions options;
          options.port = static_cast<std::uint16_t>(port);
          options.timeout = seconds(5);
          c10d::TCPStore stranger("127.0.0.1", options);
          for (const char* key : {"stoker/hello/2/1", "stoker/welcome/x", "stoker/here/x/1",
                                  "stoker/about/1", "init/", "left"}) {
            stranger.c10d::Store::set(key, std::string("forged"));
          }
        }
        Group group(launch_of(rank, 2, port), {.timeout = seconds(20)});
        const at::Tensor mine = at::ones({3});
        group.sum(mine, "test");
        EXPECT_TRUE(at::equal(mine, at::full({3}, 2.0)));
        group.leave();
      });
    });
  }
  threads.clear();
  EXPECT_THAT(failures, ::testing::Each("none"));
}

class Sealed : public ::testing::Test {
 protected:
  c10::intrusive_ptr<c10d::Store> launchers = c10::make_intrusive<c10d::HashStore>();
  c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<SealedStore>(launchers, kJobSecret);
};

TEST_F(Sealed, ValuesOfRanksAreReadAndThoseOfStrangersRefused) {
  store->set("key", "value");
  EXPECT_EQ(store->get_to_str("key"), "value");
  EXPECT_TRUE(store->check({"key"}));
  launchers->set("key", "forged");
  EXPECT_FALSE(store->check({"key"}));
  EXPECT_THAT(error_of([&] { static_cast<void>(store->get_to_str("key")); }),
              HasSubstr("a value that no rank of this job wrote"));
  const auto others = c10::make_intrusive<SealedStore>(launchers, kOtherSecret);
  others->set("key", std::vector<std::uint8_t>(5, 'x'));
  EXPECT_FALSE(store->check({"key"}));
}

TEST_F(Sealed, AValueCountsUnderItsOwnKeyAlone) {
  store->set("step/1", "value");
  launchers->set("step/2", launchers->get_to_str("step/1"));
  EXPECT_FALSE(store->check({"step/2"}));
  EXPECT_THROW(static_cast<void>(store->get_to_str("step/2")), Error);
}

TEST_F(Sealed, RanksAgreeOnAnAttemptAmongKeysOfStrangers) {
  launchers->set("hello/2/1", "forged");
  launchers->set("welcome/forged", "forged");
  std::vector<std::string> found(2);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      std::this_thread::sleep_for(milliseconds(60 * rank));
      found[static_cast<std::size_t>(rank)] = agree_on_attempt(store, rank, 2, seconds(10));
    });
  }
  threads.clear();
  EXPECT_EQ(found[0], found[1]);
  EXPECT_NE(found[0], "");
}

}  // namespace
}  // namespace stoker::detail
