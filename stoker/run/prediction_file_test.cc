#include "stoker/run/prediction_file.h"

#include <cmath>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/safetensors.h"

namespace stoker {
namespace {

using Shares = std::vector<float>;

PredictionTable three_samples() {
  PredictionTable table{.epoch = 4};
  table.add(0, Shares{0.2F, 0.5F, 0.3F}, 1.6F);
  table.add(2, Shares{0.05F, 0.05F, 0.9F}, 0.1F);
  table.add(-1, Shares{0.4F, 0.2F, 0.4F}, 0.9F);
  return table;
}

TEST(PredictionTable, KeepsTheTwoMostProbableClasses) {
  const PredictionTable table = three_samples();
  EXPECT_EQ(table.first, (std::vector<std::int32_t>{1, 2, 0}));
  EXPECT_EQ(table.second, (std::vector<std::int32_t>{2, 0, 2}));  // of equals the first
  EXPECT_EQ(table.first_share, (Shares{0.5F, 0.9F, 0.4F}));
  EXPECT_EQ(table.second_share, (Shares{0.3F, 0.05F, 0.4F}));
}

TEST(PredictionTable, OneClassHasNoSecond) {
  PredictionTable table;
  table.add(0, Shares{1}, 0);
  EXPECT_EQ(table.second.front(), 0);
  EXPECT_EQ(table.second_share.front(), 0);
}

TEST(PredictionFile, ReadsBackWhatWasWritten) {
  const TempFolder folder;
  const PredictionTable written = three_samples();
  write_predictions(folder.path() / "p", written);
  const PredictionTable read = read_predictions(folder.path() / "p", 3);
  EXPECT_EQ(read.epoch, 4u);
  EXPECT_EQ(read.label, written.label);
  EXPECT_EQ(read.first, written.first);
  EXPECT_EQ(read.second, written.second);
  EXPECT_EQ(read.first_share, written.first_share);
  EXPECT_EQ(read.second_share, written.second_share);
  EXPECT_EQ(read.loss, written.loss);
}

TEST(PredictionFile, RefusesClassesThatTheRunDoesNotHave) {
  const TempFolder folder;
  write_predictions(folder.path() / "p", three_samples());
  EXPECT_THROW(static_cast<void>(read_predictions(folder.path() / "p", 2)), Error);
}

TEST(PredictionFile, RefusesColumnsOfOtherLengths) {
  const TempFolder folder;
  PredictionTable table = three_samples();
  table.loss.pop_back();
  write_predictions(folder.path() / "p", table);
  EXPECT_THROW(static_cast<void>(read_predictions(folder.path() / "p", 3)), Error);
}

TEST(PredictionFile, RefusesOtherSafetensors) {
  const TempFolder folder;
  write_safetensors(folder.path() / "p", {}, {{"epoch", "1"}});
  EXPECT_THROW(static_cast<void>(read_predictions(folder.path() / "p", 3)), Error);
}

TEST(PredictionChoice, TopLossesBeginWithTheGreatest) {
  PredictionTable table = three_samples();
  EXPECT_EQ(top_losses(table, 2), (std::vector<std::size_t>{0, 2}));
  table.loss[1] = std::nanf("");
  EXPECT_EQ(top_losses(table, 9), (std::vector<std::size_t>{1, 0, 2}));
}

TEST(PredictionChoice, SkippedSamplesAreInNoList) {
  PredictionTable table = three_samples();
  table.add_skipped();
  table.add(1, Shares{0.1F, 0.8F, 0.1F}, 0.2F);
  EXPECT_EQ(table.size(), 5U);
  EXPECT_EQ(top_losses(table, 9), (std::vector<std::size_t>{0, 2, 4, 1}));
  EXPECT_EQ(most_doubtful(table, 9), (std::vector<std::size_t>{2, 0, 4, 1}));
}

TEST(PredictionChoice, DoubtIsTheGapBetweenTheFirstTwo) {
  EXPECT_EQ(most_doubtful(three_samples(), 3), (std::vector<std::size_t>{2, 0, 1}));
}

}  // namespace
}  // namespace stoker
