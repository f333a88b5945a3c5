#include "stoker/core/float_mode.h"

#include <limits>
#include <thread>

#include <gtest/gtest.h>

namespace stoker {
namespace {

// At run time: the compiler computes as IEEE 754 has it.
float half(float value) {
  volatile float kept = value;
  return kept * 0.5F;
}

constexpr float kSmallest = std::numeric_limits<float>::min();

class FloatModeTest : public testing::Test {
 protected:
  ~FloatModeTest() override { set_float_mode(before_); }

 private:
  FloatMode before_ = float_mode();
};

TEST_F(FloatModeTest, SubnormalsAreKeptOrCountAsZero) {
#if !defined(__x86_64__) && !defined(__aarch64__)
  GTEST_SKIP() << "this CPU has no mode";
#endif
  set_float_mode(FloatMode::kExact);
  EXPECT_EQ(float_mode(), FloatMode::kExact);
  const float subnormal = half(kSmallest);
  EXPECT_GT(subnormal, 0);
  set_float_mode(FloatMode::kFlushSubnormals);
  EXPECT_EQ(float_mode(), FloatMode::kFlushSubnormals);
  EXPECT_EQ(half(kSmallest), 0);
  EXPECT_EQ(half(subnormal), 0);
  EXPECT_EQ(half(4 * kSmallest), 2 * kSmallest);
}

TEST_F(FloatModeTest, IsThatOfTheThreadAndItsChildren) {
  set_float_mode(FloatMode::kFlushSubnormals);
  const FloatMode mode = float_mode();
  std::thread([&] {
    EXPECT_EQ(float_mode(), mode);
    set_float_mode(FloatMode::kExact);
  }).join();
  EXPECT_EQ(float_mode(), mode);
}

}  // namespace
}  // namespace stoker
