#include "stoker/core/atomic_file.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/own_folder.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of its own for each test.
class AtomicFileTest : public ::testing::Test {
 protected:
  AtomicFileTest() {
    std::string name = (fs::temp_directory_path() / "stoker_atomic_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = name;
  }
  ~AtomicFileTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // Names in the folder, sorted: shows what was left behind.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.push_back(entry.path().filename().string());
    }
    std::ranges::sort(found);
    return found;
  }

  fs::path folder_;
};

TEST_F(AtomicFileTest, WritesANewFile) {
  write_whole_file(folder_ / "a", "hello");
  EXPECT_EQ(read_whole(folder_ / "a"), "hello");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, WritesAnEmptyFile) {
  write_whole_file(folder_ / "a", "old");
  write_whole_file(folder_ / "a", "");
  EXPECT_EQ(read_whole(folder_ / "a"), "");
}

TEST_F(AtomicFileTest, AppendsTheParts) {
  AtomicFile file(folder_ / "a");
  for (const char* part : {"one ", "", "two ", "three"}) file.write(as_bytes(part));
  file.commit();
  EXPECT_EQ(read_whole(folder_ / "a"), "one two three");
}

TEST_F(AtomicFileTest, TheOldFileIsThereUntilTheCommit) {
  write_whole_file(folder_ / "a", "old");
  AtomicFile file(folder_ / "a");
  file.write(as_bytes("new"));
  EXPECT_EQ(read_whole(folder_ / "a"), "old");
  file.commit();
  EXPECT_EQ(read_whole(folder_ / "a"), "new");
}

TEST_F(AtomicFileTest, AReaderOfTheOldFileKeepsIt) {
  write_whole_file(folder_ / "a", "old");
  std::ifstream reader(folder_ / "a");
  write_whole_file(folder_ / "a", "new");
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "old");
}

TEST_F(AtomicFileTest, DiscardsWhatWasNotCommitted) {
  { AtomicFile file(folder_ / "new"); }
  EXPECT_THAT(names(), IsEmpty());
  write_whole_file(folder_ / "a", "old");
  {
    AtomicFile file(folder_ / "a");
    file.write(as_bytes("new"));
  }
  EXPECT_EQ(read_whole(folder_ / "a"), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, TwoWritersOfOneFileDoNotMix) {
  AtomicFile first(folder_ / "a"), second(folder_ / "a");
  first.write(as_bytes("first"));
  second.write(as_bytes("second"));
  second.commit();
  first.commit();
  EXPECT_EQ(read_whole(folder_ / "a"), "first");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, StepsOverATemporaryThatAKilledProcessLeft) {
  std::vector<std::string> left;
  for (int i = 0; i < 100; ++i) {  // whatever the counter is by now, one of these is next
    left.push_back(".stoker-" + std::to_string(::getpid()) + "-" + std::to_string(i) + ".tmp");
    std::ofstream(folder_ / left.back()) << "left";
  }
  write_whole_file(folder_ / "a", "new");
  EXPECT_EQ(read_whole(folder_ / "a"), "new");
  for (const std::string& name : left) EXPECT_EQ(read_whole(folder_ / name), "left");
  EXPECT_EQ(names().size(), left.size() + 1);
}

TEST_F(AtomicFileTest, WritesTheLongestNameThereCanBe) {
  const std::string name(255, 'n');
  write_whole_file(folder_ / name, "text");
  EXPECT_EQ(read_whole(folder_ / name), "text");
}

TEST_F(AtomicFileTest, WritesANameWithoutAFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  write_whole_file("a", "text");
  fs::current_path(before);
  EXPECT_EQ(read_whole(folder_ / "a"), "text");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, ASymbolicLinkStays) {
  fs::create_directory(folder_ / "far");
  write_whole_file(folder_ / "far" / "a", "old");
  fs::create_symlink(folder_ / "far" / "a", folder_ / "link");
  write_whole_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_whole(folder_ / "far" / "a"), "new");
}

TEST_F(AtomicFileTest, InAFolderOfItsOwnALinkIsReplaced) {
  for (const char* name : {"own", "own/weights", "far"}) fs::create_directory(folder_ / name);
  write_whole_file(folder_ / "far" / "a", "old");
  fs::create_symlink(folder_ / "far" / "a", folder_ / "own" / "weights" / "link");
  fs::create_symlink("/dev/null", folder_ / "own" / "device");
  fs::create_directory_symlink(folder_ / "far", folder_ / "own" / "disk");
  {
    OwnFolder first(folder_ / "own/");
    const OwnFolder moved(std::move(first));
    write_whole_file(folder_ / "far" / ".." / "own" / "weights" / "link", "new");
    write_whole_file(folder_ / "own" / "device", "new");
    write_whole_file(folder_ / "own" / "disk" / "b", "on another disk");
  }
  EXPECT_EQ(read_whole(folder_ / "far" / "a"), "old");
  for (const char* name : {"own/weights/link", "own/device"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder_ / name))) << name;
    EXPECT_EQ(read_whole(folder_ / name), "new") << name;
  }
  EXPECT_EQ(read_whole(folder_ / "far" / "b"), "on another disk");
  EXPECT_FALSE(is_in_own_folder(folder_ / "own" / "a")) << "the object is gone";
  const OwnFolder own(folder_ / "own");
  EXPECT_TRUE(is_in_own_folder(folder_ / "own" / "a"));
  EXPECT_FALSE(is_in_own_folder(folder_ / "owner" / "a"));
}

TEST_F(AtomicFileTest, ReplacesADanglingLink) {
  fs::create_symlink(folder_ / "nowhere", folder_ / "link");
  write_whole_file(folder_ / "link", "new");
  EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_whole(folder_ / "link"), "new");
}

TEST_F(AtomicFileTest, WritesADeviceInPlace) {
  write_whole_file("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFileTest, NamesAFullDisk) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const auto details = error_of([] {
    AtomicFile file("/dev/full", "image");
    file.write(as_bytes("text"));
    file.commit();
  });
  EXPECT_EQ(details.what, "cannot write the image");
  EXPECT_EQ(details.path, "/dev/full");
  EXPECT_EQ(details.found, "No space left on device");
  EXPECT_THAT(details.hint, HasSubstr("free some space"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(AtomicFileTest, RefusesAFolder) {
  for (const fs::path& path : {folder_, folder_ / "", fs::path()}) {
    const auto details = error_of([&] { AtomicFile file(path); });
    EXPECT_EQ(details.expected, "the name of a file");
    EXPECT_EQ(details.path, path.string());
  }
}

TEST_F(AtomicFileTest, NamesTheFolderThatIsMissing) {
  const auto details = error_of([&] { AtomicFile file(folder_ / "no" / "a"); });
  EXPECT_EQ(details.path, (folder_ / "no" / "a").string());
  EXPECT_THAT(details.hint, HasSubstr("Create the folder " + (folder_ / "no").string()));
}

TEST_F(AtomicFileTest, NamesAFolderThatMayNotBeWritten) {
  // The superuser may write anywhere, so it becomes nobody for a moment.
  constexpr uid_t kNobody = 65'534;
  const uid_t self = ::geteuid();
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  ASSERT_TRUE(self != 0 || ::seteuid(kNobody) == 0);
  const auto details = error_of([&] { AtomicFile file(folder_ / "a"); });
  ASSERT_TRUE(self != 0 || ::seteuid(self) == 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  EXPECT_EQ(details.found, "Permission denied");
}

TEST_F(AtomicFileTest, AFailedRenameLeavesNoTemporary) {
  const auto details = error_of([&] {
    AtomicFile file(folder_ / "a");
    file.write(as_bytes("new"));
    fs::create_directory(folder_ / "a");  // a file cannot take its place
    file.commit();
  });
  EXPECT_EQ(details.path, (folder_ / "a").string());
  EXPECT_EQ(details.found, "Is a directory");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, RefusesUseAfterTheCommit) {
  AtomicFile file(folder_ / "a");
  file.commit();
  EXPECT_THROW(file.commit(), InvariantError);
  EXPECT_THROW(file.write(as_bytes("x")), InvariantError);
}

// A file size limit stops the temporary file half-way, as a disk that fills up does.
TEST_F(AtomicFileTest, KeepsTheOldFileWhereTheNewOneDoesNotFit) {
  write_whole_file(folder_ / "a", "old");
  const ErrorDetails details = error_of([&] {
    const FileSizeLimit limit(64);
    write_whole_file(folder_ / "a", std::string(1000, 'n'));
  });
  EXPECT_EQ(details.found, "File too large");
  EXPECT_THAT(details.hint, HasSubstr("size limit"));
  EXPECT_EQ(read_whole(folder_ / "a"), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

// Writes one of two contents over and over until it is killed.
[[noreturn]] void write_until_killed(const fs::path& path, const std::string& even,
                                     const std::string& odd) {
  try {
    for (int i = 0;; ++i) write_whole_file(path, i % 2 == 0 ? even : odd);
  } catch (...) {
    ::_exit(1);
  }
}

TEST_F(AtomicFileTest, AKilledProcessLeavesAWholeFile) {
  const std::string even(200'000, 'e'), odd(300'001, 'o');
  write_whole_file(folder_ / "a", even);
  std::minstd_rand random(7);
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until_killed(folder_ / "a", even, odd);
    ::usleep(static_cast<useconds_t>(random() % 8000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
    const std::string text = read_whole(folder_ / "a");
    ASSERT_TRUE(text == even || text == odd) << "kill " << i << ": " << text.size() << " bytes";
  }
}

}  // namespace
}  // namespace stoker
