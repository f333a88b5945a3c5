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
  EXPECT_EQ(closest_name("x", {}), "");
}

}  // namespace
}  // namespace stoker
