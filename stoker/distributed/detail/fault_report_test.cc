#include "stoker/distributed/detail/fault_report.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "stoker/distributed/detail/rank_texts.h"
#include "stoker/distributed/test_counting_store.h"

namespace stoker::detail {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// Ranks without anything but a store in memory, each a thread.
class StubRanks {
 public:
  explicit StubRanks(int ranks) : ranks_(ranks) {}

  void run(const std::function<void(c10d::Store&, int)>& action) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks_; ++rank) {
      threads.emplace_back([&, rank] { action(*store_, rank); });
    }
  }

  // The reports of those that notice, by rank; `error_of` is nothing for a rank that is silent.
  std::vector<FaultReport> reports(const std::function<std::optional<std::string>(int)>& error_of,
                                   const FaultPatience& patience = {milliseconds(300),
                                                                    milliseconds(300)}) {
    std::vector<FaultReport> reports(static_cast<std::size_t>(ranks_));
    run([&](c10d::Store&, int rank) {
      const auto error = error_of(rank);
      if (!error) return;
      reports[static_cast<std::size_t>(rank)] =
          exchange_fault_reports(store_, rank, ranks_, *error, patience);
    });
    return reports;
  }

  [[nodiscard]] std::uint64_t requests() const { return traffic_->requests; }

 private:
  int ranks_;
  std::shared_ptr<test::StoreTraffic> traffic_ = std::make_shared<test::StoreTraffic>();
  c10::intrusive_ptr<c10d::Store> store_ =
      c10::make_intrusive<test::CountingStore>(c10::make_intrusive<c10d::HashStore>(), traffic_);
};

TEST(FaultReport, NamesThoseThatFailedAndThoseThatAreSilent) {
  const auto reports = StubRanks(9).reports([](int rank) -> std::optional<std::string> {
    if (rank == 4 || rank == 8) return std::nullopt;
    if (rank == 6) return "no memory";
    return rank == 2 ? "cannot read a b.jpg" : "";
  });
  EXPECT_TRUE(reports[0].store_answers);
  EXPECT_THAT(reports[0].silent, ElementsAre(4, 8));
  EXPECT_THAT(reports[0].failed, ElementsAre(Pair(2, "cannot read a b.jpg"), Pair(6, "no memory")));
  EXPECT_THAT(reports[2].failed, ElementsAre(Pair(6, "no memory")));
}

TEST(FaultReport, DoesNotWaitWhereAllHaveNoticed) {
  const auto begin = std::chrono::steady_clock::now();
  const auto reports =
      StubRanks(5).reports([](int) { return ""; }, {std::chrono::hours(1), std::chrono::hours(1)});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  for (const FaultReport& report : reports) {
    EXPECT_THAT(report.silent, IsEmpty());
    EXPECT_THAT(report.failed, IsEmpty());
  }
}

TEST(FaultReport, NamesTheFirstOfMany) {
  const auto reports = StubRanks(100).reports([](int rank) -> std::optional<std::string> {
    if (rank != 50) return std::nullopt;
    return "";
  });
  ASSERT_THAT(reports[50].silent, SizeIs(kMostSilent));
  EXPECT_EQ(reports[50].silent.front(), 0);
  EXPECT_EQ(reports[50].silent.back(), 15);
}

// Not a line of every other rank for each.
TEST(FaultReport, RequestsDoNotGrowWithTheSquareOfTheRanks) {
  constexpr int kRanks = 400;
  StubRanks stubs(kRanks);
  const auto reports = stubs.reports([](int rank) { return rank == 7 ? "an error" : ""; },
                                     {std::chrono::hours(1), std::chrono::hours(1)});
  EXPECT_THAT(reports[399].failed, ElementsAre(Pair(7, "an error")));
  EXPECT_LT(stubs.requests(), kRanks * kRanks / 2U);
}

TEST(RankTexts, ReachAllWithThreeRequestsARank) {
  for (const int ranks : {1, 2, 150}) {
    StubRanks stubs(ranks);
    stubs.run([&](c10d::Store& store, int rank) {
      const auto texts = exchange_texts(store, "name", rank, ranks, fmt::format("rank\n{}", rank));
      ASSERT_EQ(texts.size(), static_cast<std::size_t>(ranks));
      for (int other = 0; other < ranks; ++other) {
        EXPECT_EQ(texts[static_cast<std::size_t>(other)], fmt::format("rank\n{}", other));
      }
    });
    EXPECT_LE(stubs.requests(), 3U * static_cast<std::uint64_t>(ranks));
  }
}

}  // namespace
}  // namespace stoker::detail
