#include "stoker/report/class_scores.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

// Rows: true class. Class 2 never occurs but is predicted once.
const std::vector<std::int64_t> kCounts = {8, 1, 1,  //
                                           3, 7, 0,  //
                                           0, 0, 0};

TEST(ClassScores, CountRowsColumnsAndTheDiagonal) {
  const auto scores = class_scores(kCounts, 3);
  EXPECT_EQ(scores[0].support, 10);
  EXPECT_EQ(scores[0].predicted, 11);
  EXPECT_DOUBLE_EQ(scores[0].precision, 8.0 / 11);
  EXPECT_DOUBLE_EQ(scores[0].recall, 0.8);
  EXPECT_DOUBLE_EQ(scores[0].f1, 16.0 / 21);
}

TEST(ClassScores, NothingToDivideByIsZero) {
  const auto scores = class_scores(kCounts, 3);
  EXPECT_EQ(scores[2].support, 0);
  EXPECT_EQ(scores[2].recall, 0);
  EXPECT_EQ(scores[2].f1, 0);
}

TEST(ConfusedPairs, BeginWithTheMostFrequentAndKeepTheOrderOfEquals) {
  const auto pairs = confused_pairs(kCounts, 3, 9);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].truth, 1u);
  EXPECT_EQ(pairs[0].taken_for, 0u);
  EXPECT_EQ(pairs[0].count, 3);
  EXPECT_EQ(pairs[1].taken_for, 1u);
  EXPECT_EQ(pairs[2].taken_for, 2u);
  EXPECT_EQ(confused_pairs(kCounts, 3, 1).size(), 1u);
}

}  // namespace
}  // namespace stoker
