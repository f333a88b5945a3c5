#include "stoker/core/input_file.h"

#include <array>
#include <chrono>
#include <thread>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<FileBytes>);
static_assert(std::is_nothrow_move_constructible_v<FileBytes>);
static_assert(std::is_nothrow_move_assignable_v<InputFile>);

Bytes content(const FileBytes& file) {
  Bytes bytes;
  for (const std::byte byte : file.bytes()) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  return bytes;
}

TEST(FileBytes, HasTheBytesOfTheFile) {
  const TempFolder folder;
  EXPECT_EQ(content(FileBytes(folder.write("a", {1, 2, 250}))), (Bytes{1, 2, 250}));
  EXPECT_EQ(FileBytes(folder.write("b", {'o', 'k'})).text(), "ok");
  EXPECT_EQ(read_text_file(folder.path() / "b"), "ok");
}

TEST(FileBytes, HasNoBytesForAnEmptyFile) {
  const TempFolder folder;
  EXPECT_TRUE(FileBytes(folder.write("empty", {})).bytes().empty());
  EXPECT_TRUE(FileBytes().bytes().empty());
  EXPECT_TRUE(FileBytes().text().empty());
}

TEST(FileBytes, KeepsTheBytesInPlaceWhenMoved) {
  const TempFolder folder;
  FileBytes first(folder.write("a", {7, 8}));
  const std::byte* place = first.bytes().data();
  FileBytes second(std::move(first));
  EXPECT_EQ(second.bytes().data(), place);
  FileBytes third(folder.write("b", {9}));
  third = std::move(second);
  EXPECT_EQ(content(third), (Bytes{7, 8}));
  EXPECT_EQ(third.bytes().data(), place);
}

// Whether the kernel has the byte and need not ask a disk.
bool is_cached(int descriptor, off_t offset) {
  char byte = 0;
  const iovec place{&byte, 1};
  return preadv2(descriptor, &place, 1, offset, RWF_NOWAIT) == 1;
}

TEST(InputFile, ADiskBeginsToReadWhatIsExpected) {
  const TempFolder folder;
  const auto path = folder.write("a", Bytes(1 << 20, 5));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::fsync(descriptor), 0);
  ASSERT_EQ(::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED), 0);
  // In a file system of memory nothing ever leaves.
  const bool was_cached = is_cached(descriptor, 600'000);
  InputFile(path).expect(600'000, 100);
  for (int tries = 0; tries < 1000 && !is_cached(descriptor, 600'000); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(is_cached(descriptor, 600'000));
  EXPECT_TRUE(was_cached || !is_cached(descriptor, 0)) << "more was read than was asked for";
  ::close(descriptor);
}

// A mapped file would end the test with SIGBUS here.
TEST(FileBytes, StayWhenTheFileIsRemovedShortenedOrWritten) {
  const TempFolder folder;
  const auto path = folder.write("a", Bytes(100'000, 5));
  const FileBytes file(path);
  fs::resize_file(path, 0);
  EXPECT_EQ(content(file), Bytes(100'000, 5));
  folder.write("a", Bytes(100'000, 6));
  EXPECT_EQ(content(file), Bytes(100'000, 5));
  fs::remove(path);
  EXPECT_EQ(content(file), Bytes(100'000, 5));
}

TEST(FileBytes, SayWhichFileIsMissingAndWhy) {
  const ErrorDetails error = error_of([] { FileBytes("no/such/file"); });
  EXPECT_EQ(error.path, "no/such/file");
  EXPECT_THAT(error.found, HasSubstr("No such file"));
  EXPECT_FALSE(error.hint.empty());
}

TEST(FileBytes, RefuseAFileOfMoreThanTheBytesAllowed) {
  const TempFolder folder;
  const auto path = folder.write("a", {1, 2, 3});
  EXPECT_EQ(content(FileBytes(path, "cannot read file", 3)), (Bytes{1, 2, 3}));
  const ErrorDetails error = error_of([&] { FileBytes(path, "cannot read the list", 2); });
  EXPECT_EQ(error.what, "cannot read the list");
  EXPECT_EQ(error.expected, "at most 2 bytes");
  EXPECT_EQ(error.found, "3");
}

// As large as no machine's memory, and with no block on the disk.
TEST(FileBytes, RefuseAFileThatIsLargerThanMemoryBeforeAnyIsTaken) {
  const TempFolder folder;
  const auto path = folder.write("sparse", {});
  fs::resize_file(path, std::uintmax_t{1} << 43);
  EXPECT_THAT(error_of([&] { const FileBytes file(path); }).expected, HasSubstr("at most"));
}

TEST(InputFile, ReadsPartsOfTheFile) {
  const TempFolder folder;
  const InputFile file(folder.write("a", {1, 2, 3, 4, 5}));
  EXPECT_EQ(file.size(), 5U);
  std::array<std::byte, 2> part{};
  ASSERT_TRUE(file.read(2, part));
  EXPECT_EQ(part, (std::array{std::byte{3}, std::byte{4}}));
  EXPECT_NO_THROW(file.check_unchanged());
}

TEST(InputFile, AFileThatBecameShorterIsAnErrorWithItsName) {
  const TempFolder folder;
  const auto path = folder.write("a", Bytes(10, 1));
  const InputFile file(path, "cannot read the shard");
  fs::resize_file(path, 6);
  std::array<std::byte, 8> part{};
  auto read = file.read(1, part);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "cannot read the shard");
  EXPECT_EQ(read.error().path, path.string());
  EXPECT_EQ(read.error().offset, 6U);
  EXPECT_THAT(read.error().found, HasSubstr("shorter"));
  EXPECT_THAT(error_of([&] { file.check_unchanged(); }).found, HasSubstr("changed"));
}

TEST(InputFile, AFileThatWasWrittenIsNoticed) {
  const TempFolder folder;
  const auto path = folder.write("a", Bytes(10, 1));
  const InputFile file(path);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::milliseconds(1));
  EXPECT_THAT(error_of([&] { file.check_unchanged(); }).found, HasSubstr("changed"));
}

TEST(InputFile, RefusesWhatIsNoRegularFileWithoutWaiting) {
  const TempFolder folder;
  EXPECT_EQ(error_of([&] { const InputFile file(folder.path()); }).found, "a folder");
  EXPECT_EQ(error_of([] { const InputFile file("/dev/zero"); }).found, "a device");
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const ErrorDetails error = error_of([&] { const InputFile file(pipe); });
  EXPECT_EQ(error.expected, "a regular file");
  EXPECT_EQ(error.found, "a pipe");
  EXPECT_EQ(error_of([&] { static_cast<void>(read_text_file(pipe)); }).found, "a pipe");
}

}  // namespace
}  // namespace stoker
