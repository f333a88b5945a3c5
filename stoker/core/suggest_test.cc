#include "stoker/core/suggest.h"

#include <vector>

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Suggest, FindsTheNearestNameOrNone) {
  const std::vector<std::string> names = {"rotate", "shift", "skew", "noise"};
  EXPECT_EQ(closest_name("rotat", names), "rotate");
  EXPECT_EQ(closest_name("shfit", names), "shift");
  EXPECT_EQ(closest_name("ROT", names), "rotate");
  EXPECT_EQ(closest_name("nois", names), "noise");
  EXPECT_EQ(closest_name("blur", names), "");
  EXPECT_EQ(closest_name("shif", names), "shift");
  EXPECT_EQ(closest_name("tate", names), "rotate");  // a part of it
  EXPECT_EQ(closest_name("x", {}), "");
}

TEST(Suggest, PrefersTheBeginningOfAName) {
  const std::vector<std::string> flags = {"--store-timeout", "--output"};
  EXPECT_EQ(closest_name("--out", flags), "--output");
  EXPECT_EQ(closest_name("--timeout", flags), "--store-timeout");
}

TEST(Suggest, KeepsQuietWhereNothingIsNear) {
  const std::vector<std::string> flags = {"-h", "--help", "--aa", "--lr", "--model-ema"};
  EXPECT_EQ(closest_name("--wd", flags), "");
  EXPECT_EQ(closest_name("--hflip", flags), "");
  EXPECT_EQ(closest_name("--ema", flags), "--model-ema");
  EXPECT_EQ(closest_name("--LR", flags), "--lr");
}

}  // namespace
}  // namespace stoker
