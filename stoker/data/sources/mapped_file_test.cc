#include "stoker/data/sources/mapped_file.h"

#include <type_traits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stoker/data/test_files.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<MappedFile>);
static_assert(std::is_nothrow_move_constructible_v<MappedFile>);

Bytes content(const MappedFile& file) {
  Bytes bytes;
  for (const std::byte byte : file.bytes()) bytes.push_back(std::to_integer<std::uint8_t>(byte));
  return bytes;
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TempFolder folder;
  const MappedFile file(folder.write("a", {1, 2, 250}));
  EXPECT_EQ(content(file), (Bytes{1, 2, 250}));
}

TEST(MappedFile, HasNoBytesForAnEmptyFile) {
  const TempFolder folder;
  EXPECT_TRUE(MappedFile(folder.write("empty", {})).bytes().empty());
  EXPECT_TRUE(MappedFile().bytes().empty());
}

TEST(MappedFile, KeepsTheBytesInPlaceWhenMoved) {
  const TempFolder folder;
  MappedFile first(folder.write("a", {7, 8}));
  const std::byte* place = first.bytes().data();
  MappedFile second(std::move(first));
  EXPECT_EQ(second.bytes().data(), place);
  MappedFile third(folder.write("b", {9}));
  third = std::move(second);
  EXPECT_EQ(content(third), (Bytes{7, 8}));
  EXPECT_EQ(third.bytes().data(), place);
  EXPECT_TRUE(second.bytes().empty());  // NOLINT(bugprone-use-after-move): empty is promised
}

TEST(MappedFile, SurvivesTheRemovalOfTheFile) {
  const TempFolder folder;
  const auto path = folder.write("a", {5});
  const MappedFile file(path);
  std::filesystem::remove(path);
  EXPECT_EQ(content(file), (Bytes{5}));
}

TEST(MappedFile, SaysWhichFileIsMissingAndWhy) {
  const ErrorDetails error = error_of([] { MappedFile("no/such/file"); });
  EXPECT_EQ(error.path, "no/such/file");
  EXPECT_THAT(error.found, HasSubstr("No such file"));
  EXPECT_FALSE(error.hint.empty());
}

TEST(MappedFile, RefusesAFolder) {
  const TempFolder folder;
  const ErrorDetails error = error_of([&] { const MappedFile file(folder.path()); });
  EXPECT_EQ(error.found, "a folder");
}

TEST(MappedFile, RefusesANamedPipeWithoutWaiting) {
  const TempFolder folder;
  const auto path = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { const MappedFile file(path); }).expected, "a regular file");
}

}  // namespace
}  // namespace stoker
