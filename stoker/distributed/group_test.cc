#include "stoker/distributed/group.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "stoker/distributed/detail/attempt.h"
#include "stoker/distributed/detail/network.h"
#include "stoker/distributed/test_ranks.h"

namespace stoker {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Group, SumsSendsAndGathers) {
  test::run_ranks(3, [](Group& group) {
    const at::Tensor mine = at::full({5}, group.rank() + 1.0);
    group.sum(mine, "test");
    EXPECT_TRUE(at::equal(mine, at::full({5}, 6.0)));
    const at::Tensor counts = at::full({2}, group.rank(), at::kLong);
    group.broadcast(counts, "test");
    EXPECT_TRUE(at::equal(counts, at::zeros({2}, at::kLong)));
    const auto all = group.gather(at::full({2}, group.rank(), at::kLong), "test");
    ASSERT_EQ(all.size(), 3U);
    EXPECT_TRUE(at::equal(all[2], at::full({2}, 2, at::kLong)));
    group.open_statistics();
    const at::Tensor statistics = at::ones({4});
    group.sum_statistics(statistics);
    EXPECT_TRUE(at::equal(statistics, at::full({4}, 3.0)));
    EXPECT_EQ(group.share_text("a", group.rank() == 0 ? "from 0" : "ignored"), "from 0");
    EXPECT_THAT(group.name_of(1), AllOf(HasSubstr("rank 1 ("), HasSubstr("127.0.0.1")));
  });
}

// A bit of the sum may depend on the number of ranks, never on the time.
TEST(Group, SumsAreTheSameBitsEveryTime) {
  at::Tensor first;
  for (int round = 0; round < 3; ++round) {
    test::run_ranks(3, [&](Group& group) {
      const at::Tensor mine = at::arange(10007, at::kFloat).mul_(0.37 * (group.rank() + 1)).sin_();
      group.sum(mine, "test");
      if (group.rank() == 0 && round == 0) first = mine;
      if (group.rank() == 1 && round > 0) {
        EXPECT_TRUE(at::equal(mine, first));
      }
    });
  }
}

TEST(Group, ARanksOwnErrorReachesTheOthersWithItsText) {
  const auto errors = test::try_ranks(3, {.timeout = std::chrono::seconds(20)}, [](Group& group) {
    group.sum(at::ones({1}), "all have met");
    if (group.rank() == 1) {
      group.tell_failure("cannot read plates/17.jpg");
      throw Error({.what = "cannot read plates/17.jpg"});
    }
    group.sum(at::ones({1 << 20}), "the sum of gradients");
  });
  for (const std::size_t rank : {0U, 2U}) {
    EXPECT_THAT(test::text_of(errors[rank]),
                AllOf(HasSubstr("lost the other ranks in: the sum of gradients"),
                      HasSubstr("rank 1 ("), HasSubstr("failed: cannot read plates/17.jpg")));
  }
}

// It neither ends nor answers: the timeout finds it, and its name is told.
TEST(Group, AHangingRankIsNamedWithinTheTimeout) {
  std::atomic<int> ended = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = test::try_ranks(3, {.timeout = std::chrono::seconds(5)}, [&](Group& group) {
    if (group.rank() == 2) {
      while (ended < 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return;
    }
    try {
      group.sum(at::ones({8}), "the step's beat");
    } catch (...) {
      ++ended;
      throw;
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(6500));
  for (const std::size_t rank : {0U, 1U}) {
    EXPECT_THAT(test::text_of(errors[rank]),
                AllOf(HasSubstr("the step's beat"), HasSubstr("rank 2 ("),
                      HasSubstr("is silent: ended, hanging or cut off")));
    EXPECT_THAT(test::text_of(errors[rank]), Not(HasSubstr("rank 0 (localhost) is silent")));
  }
}

TEST(Group, RanksThatNeverComeAreNamed) {
  const Launch launch = read_launch({.rank = 0, .ranks = 3, .master_port = test::free_port()},
                                    [](const char*) { return std::nullopt; });
  try {
    const Group group(launch, {.timeout = std::chrono::seconds(2)});
    FAIL() << "met nobody";
  } catch (const GroupError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nothing from rank 1, 2"));
  }
}

// A store that outlives the ranks keeps what earlier ones wrote: those of the next attempt neither
// wait for them nor take them for their own.
TEST(Group, AnAttemptDoesNotMixWithEarlierOnes) {
  const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
  store->set("hello/3/1", "of a process that is gone");
  std::set<std::string> names;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<std::string> found(3);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30 * ((rank + attempt) % 3)));
        found[static_cast<std::size_t>(rank)] =
            detail::agree_on_attempt(store, rank, 3, std::chrono::seconds(10));
      });
    }
    threads.clear();
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(found[0], found[2]);
    names.insert(found[0]);
  }
  EXPECT_EQ(names.size(), 3U);
}

TEST(Network, ListensOnlyWhereItWasTold) {
  const int port = test::free_port();
  const int listener = detail::listen_at("127.0.0.1", static_cast<std::uint16_t>(port));
  sockaddr_in bound{};
  socklen_t length = sizeof bound;
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &length), 0);
  EXPECT_EQ(ntohl(bound.sin_addr.s_addr), INADDR_LOOPBACK);
  EXPECT_THROW(static_cast<void>(detail::listen_at("127.0.0.1", static_cast<std::uint16_t>(port))),
               Error);
  ::close(listener);
  EXPECT_THROW(static_cast<void>(detail::listen_at("192.0.2.1", 1)), Error);  // not this machine's
}

TEST(Network, AddressesOfThisMachine) {
  EXPECT_EQ(detail::address_towards("127.0.0.1", 1), "127.0.0.1");
  EXPECT_EQ(detail::address_of_interface("lo"), "127.0.0.1");
  EXPECT_THROW(static_cast<void>(detail::address_of_interface("none0")), Error);
  EXPECT_THROW(static_cast<void>(detail::address_towards("no.such.host.invalid", 1)), Error);
}

}  // namespace
}  // namespace stoker
