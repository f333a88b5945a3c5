#include "stoker/kernels/simd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// active_simd() asks a function that is compiled for each target which one it is.
TEST(Simd, TheForcedVersionIsTheOneThatRuns) {
  const auto names = available_simd();
  ASSERT_GE(names.size(), 2U);
  EXPECT_EQ(names.front(), "reference");
  for (const auto& name : names) {
    force_simd(name);
    EXPECT_EQ(active_simd(), name);
  }
  force_simd("auto");
  EXPECT_EQ(active_simd(), names.back());
}

TEST(Simd, AnUnknownVersionIsAnErrorThatListsTheKnownOnes) {
  try {
    force_simd("avx9");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("reference"));
    EXPECT_THAT(error.what(), testing::HasSubstr("avx9"));
  }
}

}  // namespace
}  // namespace stoker
