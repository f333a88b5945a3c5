#include "stoker/pipeline/normalise_settings.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(NormaliseSettings, NotGivenAreImageNetsForColourAndNothingForGrey) {
  NormaliseSettings colour, grey;
  colour.resolve(3);
  EXPECT_THAT(colour.mean, ElementsAre(0.485, 0.456, 0.406));
  EXPECT_THAT(colour.deviation, ElementsAre(0.229, 0.224, 0.225));
  EXPECT_EQ(colour.means()[3], 0);
  EXPECT_EQ(colour.deviations()[3], 1);
  grey.resolve(1);
  EXPECT_THAT(grey.mean, ElementsAre(0));
  EXPECT_THAT(grey.deviation, ElementsAre(1));
}

TEST(NormaliseSettings, OneNumberIsForAllChannels) {
  NormaliseSettings settings{.mean = {0.5}, .deviation = {0.25}};
  settings.resolve(3);
  EXPECT_THAT(settings.means(), ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(settings.deviations(), ElementsAre(0.25, 0.25, 0.25, 0.25));
}

TEST(NormaliseSettings, RefuseNumbersThatDoNotFit) {
  const auto refusal = [](NormaliseSettings settings, int channels) {
    return message_of([&] { settings.resolve(channels); });
  };
  EXPECT_THAT(refusal({.mean = {0.1, 0.2}, .deviation = {}}, 3),
              AllOf(HasSubstr("`mean` does not fit"), HasSubstr("got 2")));
  EXPECT_THAT(refusal({.mean = {}, .deviation = {1, 1, 1, 1}}, 3),
              AllOf(HasSubstr("`std` does not fit"), HasSubstr("got 4")));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(refusal({.mean = {infinity}, .deviation = {}}, 1),
              AllOf(HasSubstr("`mean`"), HasSubstr("finite numbers")));
  EXPECT_THAT(refusal({.mean = {}, .deviation = {0.5, 0, 0.5}}, 3),
              AllOf(HasSubstr("`std`"), HasSubstr("above 0")));
}

}  // namespace
}  // namespace stoker
