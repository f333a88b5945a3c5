#include "stoker/image/jpeg.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

TEST(EncodeJpeg, RefusesQualitiesAndSidesThatTheFormatDoesNotHave) {
  const Image image({.height = 2, .width = 3, .channels = 3});
  for (const int quality : {-1, 0, 101}) {
    const ErrorDetails error = error_of([&] { (void)encode_jpeg(image.view(), quality); });
    EXPECT_THAT(error.expected, testing::HasSubstr("a quality of 1 to 100"));
    EXPECT_EQ(error.found, std::to_string(quality) + ", 3x2");
  }
  const Image wide({.height = 1, .width = 65'501}), high({.height = 65'501, .width = 1});
  EXPECT_EQ(error_of([&] { (void)encode_jpeg(wide.view(), 90); }).found, "90, 65501x1");
  EXPECT_EQ(error_of([&] { (void)encode_jpeg(high.view(), 90); }).found, "90, 1x65501");
}

}  // namespace
}  // namespace stoker
