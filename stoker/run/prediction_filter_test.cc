#include "stoker/run/prediction_filter.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

const std::vector<std::string> kFilterClasses = {"cleaned", "dirty"};

TEST(PredictionFilter, AllConditionsMustHold) {
  EXPECT_TRUE(PredictionFilter().lets_through("dirty", 0.1));
  const PredictionFilter doubtful("p<0.6", kFilterClasses);
  EXPECT_TRUE(doubtful.lets_through("dirty", 0.59));
  EXPECT_FALSE(doubtful.lets_through("dirty", 0.6));
  const PredictionFilter both("class=dirty, p >= 0.9", kFilterClasses);
  EXPECT_TRUE(both.lets_through("dirty", 0.9));
  EXPECT_FALSE(both.lets_through("dirty", 0.89));
  EXPECT_FALSE(both.lets_through("cleaned", 0.95));
}

TEST(PredictionFilter, RefusesAnythingElse) {
  for (const char* text : {"p", "p=0.5", "p<", "p<x", "q<0.5", "p<0.5 and p>0.1", "class=mouldy"}) {
    EXPECT_THROW(PredictionFilter(text, kFilterClasses), Error) << text;
  }
}

}  // namespace
}  // namespace stoker
