#include "stoker/core/shared_memory.h"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/sanitizers.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

std::size_t count_of(std::span<const std::byte> bytes, std::byte value) {
  return static_cast<std::size_t>(std::ranges::count(bytes, value));
}

TEST(SharedMemory, IsZeroAndSharedWithForkedProcesses) {
  const SharedMemory memory(10'000, "a test");
  EXPECT_EQ(count_of(memory.bytes(), std::byte{0}), 10'000U);
  const pid_t child = fork();
  if (child == 0) {
    memory.bytes()[9'999] = std::byte{7};
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(memory.bytes()[9'999], std::byte{7});
}

// Mappings made one after the other lie side by side, so a wrong length reaches a neighbour.
TEST(SharedMemory, DiscardsWholePagesBehindAPlaceAndNothingElse) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::deque<SharedMemory> all;
  for (int i = 0; i < 3; ++i) {
    std::ranges::fill(all.emplace_back(4 * page, "a test").bytes(), std::byte{1});
  }
  SharedMemory& middle = all[1];
  middle.discard_from(page + 1);
  EXPECT_EQ(count_of(middle.bytes().first(2 * page), std::byte{1}), 2 * page);
  EXPECT_EQ(count_of(middle.bytes().subspan(2 * page), std::byte{0}), 2 * page);
  middle.discard_from(page);
  EXPECT_EQ(count_of(middle.bytes(), std::byte{1}), page);
  middle.discard_from(4 * page);
  middle.discard_from(4 * page - 1);
  EXPECT_EQ(count_of(middle.bytes(), std::byte{1}), page);
  EXPECT_EQ(count_of(all[0].bytes(), std::byte{1}), 4 * page);
  EXPECT_EQ(count_of(all[2].bytes(), std::byte{1}), 4 * page);
}

TEST(SharedMemory, IsMovedAndUnmapped) {
  SharedMemory memory(5'000, "a test");
  std::byte* data = memory.bytes().data();
  SharedMemory moved(std::move(memory));
  EXPECT_EQ(moved.bytes().data(), data);
  EXPECT_EQ(moved.bytes().size(), 5'000U);
  moved.unmap();
  EXPECT_TRUE(moved.bytes().empty());
}

// UBSan's checks need descriptors of their own.
#if !STOKER_ASAN
TEST(SharedMemory, SaysForWhatThereIsNone) {
  const ErrorDetails error = error_of([] {
    const DescriptorLimit none(0);
    const SharedMemory memory(2'500'000, "a test");
  });
  EXPECT_EQ(error.what, "cannot get memory that processes share, for a test");
  EXPECT_EQ(error.expected, "2.5 MB");
  EXPECT_EQ(error.found, "Too many open files");
}
#endif

TEST(SharedMemory, OfMoreThanAllAddressesIsRefused) {
  const std::string message =
      message_of([] { const SharedMemory memory(std::size_t{1} << 60, "an exabyte"); });
  EXPECT_THAT(message, testing::HasSubstr("for an exabyte. Expected 1152921504606.8 MB"));
}

}  // namespace
}  // namespace stoker
