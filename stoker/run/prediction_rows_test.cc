#include "stoker/run/prediction_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

const RowOutputs kClasses = {.names = {"cleaned", "dirty"}};
const std::vector<float> kDirty = {0.25F, 0.75F}, kEven = {0.5F, 0.5F};

std::string options_message(const RowOptions& options) {
  try {
    const PredictionRows rows(kClasses, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PredictionRows, TheTableHasAllClassesOrTheMostProbable) {
  PredictionRows all(kClasses, {});
  EXPECT_EQ(all.header(), "sample,class,probability,cleaned,dirty,error\n");
  EXPECT_EQ(all.row({"a,b.jpg", kDirty}), "\"a,b.jpg\",dirty,0.750000,0.250000,0.750000,\n");
  PredictionRows two(kClasses, {.top_k = 9});
  EXPECT_EQ(two.header(), "sample,class,probability,class2,probability2,error\n");
  EXPECT_EQ(two.row({"a", kEven}), "a,cleaned,0.500000,dirty,0.500000,\n");
}

TEST(PredictionRows, AJsonLineHasAProbabilityForEveryClass) {
  PredictionRows rows(kClasses, {.format = RowFormat::kJsonLines});
  EXPECT_EQ(rows.header(), "");
  EXPECT_EQ(rows.row({"a", kDirty}), R"({"sample":"a","class":"dirty","probability":0.75,)"
                                     R"("probabilities":{"cleaned":0.25,"dirty":0.75}})"
                                     "\n");
}

TEST(PredictionRows, ASubmissionHasIdAndLabel) {
  PredictionRows rows(kClasses, {.format = RowFormat::kSubmission});
  EXPECT_EQ(rows.header(), "id,label\n");
  EXPECT_EQ(rows.row({"test/0001.jpg", kDirty}), "0001,dirty\n");
  EXPECT_EQ(rows.row({"test/v1.2.jpg", kEven}), "v1.2,cleaned\n");
  PredictionRows names(kClasses, {.format = RowFormat::kSubmission, .id = SubmissionId::kName});
  EXPECT_EQ(names.row({"test/0001.jpg", kDirty}), "0001.jpg,dirty\n");
  PredictionRows paths(kClasses, {.format = RowFormat::kSubmission, .id = SubmissionId::kPath});
  EXPECT_EQ(paths.row({"test/0001.jpg", kDirty}), "test/0001.jpg,dirty\n");
}

TEST(PredictionRows, ASubmissionCanHoldTheProbabilityOfOneClass) {
  PredictionRows rows(kClasses, {.format = RowFormat::kSubmission, .positive = "cleaned"});
  EXPECT_EQ(rows.header(), "id,label\n");
  EXPECT_EQ(rows.row({"0001.jpg", kDirty}), "0001,0.250000\n");
}

// A competition would count one of them and lose the other.
TEST(PredictionRows, ASubmissionRefusesTheSameIdTwice) {
  PredictionRows rows(kClasses, {.format = RowFormat::kSubmission});
  EXPECT_EQ(rows.row({"a/1.jpg", kDirty}), "1,dirty\n");
  EXPECT_THROW(static_cast<void>(rows.row({"b/1.jpg", kDirty})), Error);
}

TEST(PredictionRows, ASampleThatCannotBeReadHasARowWithTheReason) {
  PredictionRows all(kClasses, {}), one(kClasses, {.top_k = 1}), two(kClasses, {.top_k = 2});
  EXPECT_EQ(all.error_row("a.jpg", "cut, early"), "a.jpg,,,,,\"cut, early\"\n");
  EXPECT_EQ(one.error_row("a.jpg", "cut"), "a.jpg,,,cut\n");
  EXPECT_EQ(two.error_row("a.jpg", "cut"), "a.jpg,,,,,cut\n");
  PredictionRows lines(kClasses, {.format = RowFormat::kJsonLines});
  EXPECT_EQ(lines.error_row("a.jpg", "cut"), "{\"sample\":\"a.jpg\",\"error\":\"cut\"}\n");
  PredictionRows submission(kClasses, {.format = RowFormat::kSubmission});
  EXPECT_EQ(submission.error_row("test/0001.jpg", "cut"), "0001,\n");
}

TEST(PredictionRows, OptionsThatDoNotFitAreRefused) {
  EXPECT_THAT(options_message({.format = RowFormat::kSubmission, .top_k = 2}),
              ::testing::HasSubstr("`topk`"));
  EXPECT_THAT(options_message({.positive = "dirty"}), ::testing::HasSubstr("`format` submission"));
  EXPECT_THAT(options_message({.format = RowFormat::kSubmission, .positive = "mouldy"}),
              ::testing::HasSubstr("one of cleaned, dirty"));
}

}  // namespace
}  // namespace stoker
