#include "stoker/pipeline/batch_memory.h"

#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

TEST(BatchMemory, IsAlignedAndZero) {
  const auto memory = host_batch_memory(1000);
  EXPECT_EQ(memory->bytes().size(), 1000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->bytes().data()) % kBatchAlignment, 0U);
  for (const std::byte value : memory->bytes()) ASSERT_EQ(value, std::byte{0});
}

TEST(BatchMemory, TooMuchIsAnErrorThatSaysHowMuch) {
  try {
    static_cast<void>(host_batch_memory(std::size_t{1} << 60));
    FAIL() << "got an exabyte";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("MB"));
  }
}

}  // namespace
}  // namespace stoker
