#include "stoker/nn/target_scale.h"

#include <array>
#include <limits>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TargetScale scale_of(const std::vector<std::array<float, 2>>& rows) {
  TargetStatistics statistics(2);
  for (const auto& row : rows) statistics.add(row);
  return statistics.scale();
}

// numpy: y.mean(0), y.std(0)
TEST(TargetScale, IsMeanAndStandardDeviation) {
  const TargetScale scale = scale_of({{1, 2000}, {2, 2010}, {4, 2020}, {9, 2100}});
  EXPECT_THAT(scale.mean, testing::ElementsAre(4, 2032.5));
  EXPECT_DOUBLE_EQ(scale.deviation[0], 3.082207001484488);
  EXPECT_DOUBLE_EQ(scale.deviation[1], 39.607448794387146);
}

TEST(TargetScale, AConstantTargetKeepsItsUnit) {
  const TargetScale scale = scale_of({{3, 0.1F}, {3, 0.1F}, {3, 0.1F}});
  EXPECT_THAT(scale.deviation, testing::ElementsAre(1, 1));
  EXPECT_THAT(scale.mean, testing::ElementsAre(3, static_cast<double>(0.1F)));
}

TEST(TargetScale, BringsTargetsBack) {
  const TargetScale scale{.mean = {1e6, -0.5}, .deviation = {0.25, 1e-3}};
  const at::Tensor y = at::tensor({1000000.25F, -0.501F, 999999.5F, -0.498F}).view({2, 2});
  const at::Tensor z = standardised(y, scale);
  EXPECT_EQ(z.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::allclose(z, at::tensor({1.0F, -1.0F, -2.0F, 2.0F}).view({2, 2}), 0, 1e-4));
  EXPECT_TRUE(at::equal(in_own_unit(z, scale), y));
}

TEST(TargetScale, RefusesWhatIsNoNumber) {
  TargetStatistics statistics(1);
  EXPECT_THROW((void)statistics.scale(), Error) << "no sample";
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_THROW(statistics.add({&wrong, 1}), Error);
  }
  EXPECT_THROW((void)standardised(at::zeros({2, 3}), {{0}, {1}}), InvariantError);
}

}  // namespace
}  // namespace stoker
