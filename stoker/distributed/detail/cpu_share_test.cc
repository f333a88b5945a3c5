#include "stoker/distributed/detail/cpu_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker::detail {
namespace {

TEST(CpuShare, RanksThatSeeTheSameCpusShareThem) {
  const std::vector<std::string> four = {"m 0,1,2,3", "m 0,1,2,3", "m 0,1,2,3", "m 0,1,2,3"};
  EXPECT_DOUBLE_EQ(cpu_share(four, 2), 0.25);
}

TEST(CpuShare, BoundRanksAndOtherMachinesTakeNothingAway) {
  const std::vector<std::string> bound = {"a 0,1", "a 2,3", "b 0,1", "b 2,3"};
  for (int rank = 0; rank < 4; ++rank) EXPECT_DOUBLE_EQ(cpu_share(bound, rank), 1);
}

TEST(CpuShare, TwoRanksBoundToEachSocket) {
  const std::vector<std::string> sockets = {"m 0,1,2,3", "m 4,5,6,7", "m 0,1,2,3", "m 4,5,6,7"};
  for (int rank = 0; rank < 4; ++rank) EXPECT_DOUBLE_EQ(cpu_share(sockets, rank), 0.5);
}

TEST(CpuShare, PartsThatOverlap) {
  const std::vector<std::string> texts = {"m 0,1,2,3", "m 3"};
  EXPECT_DOUBLE_EQ(cpu_share(texts, 0), 3.5 / 4);
  EXPECT_DOUBLE_EQ(cpu_share(texts, 1), 0.5);
}

TEST(CpuShare, NothingKnownMeansAllOfIt) {
  EXPECT_DOUBLE_EQ(cpu_share({"m ", "m 0,1"}, 0), 1);
  EXPECT_DOUBLE_EQ(cpu_share({"", "m 0,1"}, 1), 1);
}

TEST(CpuShare, OfThisProcess) {
  EXPECT_THAT(own_cpus_text(), testing::MatchesRegex("[-0-9a-f]+ [0-9]+(,[0-9]+)*"));
  EXPECT_DOUBLE_EQ(cpu_share({own_cpus_text(), own_cpus_text()}, 1), 0.5);
}

}  // namespace
}  // namespace stoker::detail
