#include "stoker/cuda/detail/check_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/kernels/plane.h"

namespace stoker::cuda::detail {
namespace {

using testing::HasSubstr;

PlaneSize size_of(int rows, int columns, int gap = 0) {
  return PlaneSize(Plane<float>(nullptr, rows, columns, columns + gap));
}

template <class Check>
std::string message_of(Check&& check) {
  try {
    check();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CheckLaunch, TakesWhatTheContractsAllow) {
  check_maximum(size_of(3, 4), size_of(3, 4), size_of(3, 4));
  check_gram(size_of(3, 3, 2), size_of(3, 9, 1));
  check_filter("sobel", size_of(5, 6, 1), size_of(5, 6, 3), size_of(7, 3), 7);
  check_filter("correlation", size_of(0, 0), size_of(0, 0), size_of(101, 99), 0);
}

TEST(CheckLaunch, SaysWhatIsWrongWithShapes) {
  EXPECT_THAT(message_of([] { check_maximum(size_of(3, 4), size_of(3, 4), size_of(4, 3)); }),
              HasSubstr("Expected a result of 4×3, got 3×4"));
  EXPECT_THAT(message_of([] { check_maximum(size_of(3, 4), size_of(3, 4, 1), size_of(3, 4)); }),
              HasSubstr("without gaps"));
  EXPECT_THAT(message_of([] { check_gram(size_of(3, 4), size_of(3, 9)); }), HasSubstr("3×3"));
}

TEST(CheckLaunch, RefusesEvenAndTooLargeKernels) {
  const auto correlation = [](int rows, int columns, int most) {
    return message_of([=] {
      check_filter("correlation", size_of(9, 9), size_of(9, 9), size_of(rows, columns), most);
    });
  };
  EXPECT_THAT(correlation(2, 3, 31), HasSubstr("odd sides, got 2×3"));
  EXPECT_THAT(correlation(3, 0, 31), HasSubstr("odd sides"));
  EXPECT_THAT(correlation(33, 3, 31), HasSubstr("at most 31×31, got 33×3"));
  EXPECT_EQ(correlation(33, 3, 0), "no error");
}

}  // namespace
}  // namespace stoker::cuda::detail
