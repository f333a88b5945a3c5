#include "stoker/core/pages.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(Pages, AreZeroAndWritableAndMove) {
  Pages first(10'000, "a test");
  for (const std::byte value : first.bytes()) ASSERT_EQ(value, std::byte{0});
  first.bytes()[9'999] = std::byte{7};
  const Pages second = std::move(first);
  EXPECT_EQ(second.bytes()[9'999], std::byte{7});
}

TEST(Pages, TooManyAreAnErrorWithPurposeAndSize) {
  try {
    const Pages pages(std::size_t{1} << 60, "an exabyte");
    FAIL() << "got it";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("an exabyte"));
    EXPECT_THAT(error.what(), testing::HasSubstr("MB"));
  }
}

}  // namespace
}  // namespace stoker
