#include "stoker/store/object_cache.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <list>
#include <stop_token>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/digest.h"
#include "stoker/core/input_file.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A store in memory that counts, waits and lies as told.
class FakeStore final : public Store {
 public:
  explicit FakeStore(std::string content) : content_(std::move(content)) {}
  [[nodiscard]] std::string where() const override { return "fake://"; }
  [[nodiscard]] std::optional<ObjectFacts> look(const std::string&) const override {
    return ObjectFacts{content_.size(), "1"};
  }
  void read(const ReadRequest& request, const ByteSink& sink) const override {
    ++reads;
    for (std::uint64_t i = request.begin; i < content_.size(); i += 1000) {
      std::this_thread::sleep_for(pause);
      const std::string piece = lie ? std::string(1000, '?') : content_.substr(i, 1000);
      sink(std::as_bytes(std::span(piece)));
      bytes += piece.size();
    }
  }
  void write(const std::string&, const fs::path&) const override {}
  [[nodiscard]] std::vector<std::string> list() const override { return {}; }

  [[nodiscard]] CachedObject object() const {
    Digest digest;
    digest.add(std::as_bytes(std::span(content_)));
    return {"o", content_.size(), digest.hex()};
  }

  mutable std::atomic<int> reads{0};
  mutable std::atomic<std::uint64_t> bytes{0};
  bool lie = false;
  std::chrono::milliseconds pause{0};

 private:
  std::string content_;
};

std::string content_of(int number, std::size_t size = 20'000) {
  std::string content(size, static_cast<char>('a' + number));
  return content + std::to_string(number);
}

Bytes content_of_file(const InputFile& file) {
  const FileBytes content(file);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(content.bytes().data());
  return {bytes, bytes + content.bytes().size()};
}

TEST(ObjectCache, FetchesOnceForAnyNumberOfThreadsAndCaches) {
  TempFolder folder;
  FakeStore store(content_of(1));
  store.pause = std::chrono::milliseconds(1);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const ObjectCache cache(folder.path() / "c", 1 << 20);  // one each, as processes have
        const Bytes found = content_of_file(cache.bring(store, store.object(), {}));
        EXPECT_EQ(std::string(found.begin(), found.end()), content_of(1));
      });
    }
  }
  EXPECT_EQ(store.reads, 1);
  for (const auto& entry : fs::directory_iterator(folder.path() / "c")) {
    EXPECT_NE(entry.path().extension(), ".part");
  }
}

TEST(ObjectCache, KnowsWhatItHas) {
  TempFolder folder;
  const FakeStore store(content_of(1));
  const ObjectCache cache(folder.path() / "c", 1 << 20);
  EXPECT_FALSE(cache.has(store.object()));
  static_cast<void>(cache.bring(store, store.object(), {}));
  EXPECT_TRUE(cache.has(store.object()));
  fs::resize_file(cache.path_of(store.object()), 7);
  EXPECT_FALSE(cache.has(store.object()));
  EXPECT_EQ(store.reads, 1);
}

TEST(ObjectCache, RefusesBytesWithAnotherDigestAfterAFewTries) {
  TempFolder folder;
  FakeStore store(content_of(2));
  store.lie = true;
  const ObjectCache cache(folder.path(), 1 << 20);
  EXPECT_THAT(message_of([&] { static_cast<void>(cache.bring(store, store.object(), {})); }),
              HasSubstr("not what it should be"));
  EXPECT_EQ(store.reads, ObjectCache::kTries);
  store.lie = false;
  EXPECT_NO_THROW(static_cast<void>(cache.bring(store, store.object(), {})));
}

TEST(ObjectCache, GoesOnWithWhatAKilledProcessLeft) {
  TempFolder folder;
  FakeStore store(content_of(3, 200'000));
  store.pause = std::chrono::milliseconds(5);
  const pid_t child = ::fork();
  if (child == 0) {
    const ObjectCache cache(folder.path(), 1 << 20);
    static_cast<void>(cache.bring(store, store.object(), {}));
    ::_exit(0);
  }
  std::error_code missing;
  const fs::path part = folder.path() / (store.object().digest + ".part");
  for (int i = 0; i < 10'000; ++i) {
    const std::uintmax_t size = fs::file_size(part, missing);
    if (!missing && size > 10'000) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  store.pause = {};
  const ObjectCache cache(folder.path(), 1 << 20);
  const Bytes found = content_of_file(cache.bring(store, store.object(), {}));
  EXPECT_EQ(std::string(found.begin(), found.end()), content_of(3, 200'000));
  EXPECT_LT(store.bytes, 192'000U);  // not all of it
}

TEST(ObjectCache, StaysWithinItsLimitAndKeepsWhatWasUsedLast) {
  TempFolder folder;
  const ObjectCache cache(folder.path(), 70'000);
  for (int i = 0; i < 8; ++i) {
    const FakeStore store(content_of(i));
    static_cast<void>(cache.bring(store, store.object(), {}));
    std::this_thread::sleep_for(std::chrono::milliseconds(15));  // file times have a grain
    const FakeStore first(content_of(0));
    static_cast<void>(cache.bring(first, first.object(), {}));
    EXPECT_EQ(first.reads, 0) << i;
  }
  std::uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) total += entry.file_size();
  EXPECT_LE(total, 70'000U);
}

TEST(ObjectCache, AUseIsNoChangeToAProcessThatReadsTheObject) {
  TempFolder folder;
  const FakeStore store(content_of(1));
  const ObjectCache cache(folder.path(), 1 << 20);
  const InputFile file(cache.bring(store, store.object(), {}));
  std::this_thread::sleep_for(std::chrono::milliseconds(15));  // file times have a grain
  const ObjectCache other(folder.path(), 1 << 20);
  static_cast<void>(other.bring(store, store.object(), {}));
  EXPECT_NO_THROW(file.check_unchanged());
}

TEST(ObjectCache, StaysWithinItsLimitWhenSeveralAreFetchedAtOnce) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 50'000);  // two
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&cache, i] {
      FakeStore store(content_of(i));
      store.pause = std::chrono::milliseconds(5);  // no fetch ends before all have begun
      static_cast<void>(cache.bring(store, store.object(), {}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) total += entry.file_size();
  EXPECT_LE(total, 50'000U);
  EXPECT_GT(total, 20'000U);
}

// Each fetch removes what the others brought.
TEST(ObjectCache, GivesAFileThatOthersMayRemoveAtOnce) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&cache, i] {
      int reads = 0;
      for (int round = 0; round < 40; ++round) {
        const int number = (i + round) % 6;
        const FakeStore store(content_of(number));
        const InputFile file = cache.bring(store, store.object(), {});
        const Bytes found = content_of_file(file);
        EXPECT_EQ(std::string(found.begin(), found.end()), content_of(number));
        EXPECT_EQ(fs::path(file.path()).extension(), ".object");
        reads += store.reads;
      }
      EXPECT_GT(reads, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ObjectCache, OfItsOwnIsRemovedWithIt) {
  fs::path path;
  {
    const ObjectCache cache({}, 1 << 20);
    path = cache.folder();
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ObjectCache, FetchesAgainWhatWasShortenedOrDiscarded) {
  const TempFolder folder;
  const FakeStore store(content_of(4));
  const ObjectCache cache(folder.path(), 1 << 20);
  const fs::path path = cache.bring(store, store.object(), {}).path();
  fs::resize_file(path, 100);
  EXPECT_EQ(content_of_file(cache.bring(store, store.object(), {})).size(), content_of(4).size());
  EXPECT_EQ(store.reads, 2);
  cache.discard(store.object());
  cache.discard(store.object());  // nothing is there
  static_cast<void>(cache.bring(store, store.object(), {}));
  EXPECT_EQ(store.reads, 3);
}

TEST(ObjectCache, UsesNoFileThatOthersMayHaveWritten) {
  const TempFolder folder;
  const FakeStore store(content_of(5));
  const ObjectCache cache(folder.path(), 1 << 20);
  const fs::path path = cache.bring(store, store.object(), {}).path();
  const std::string evil(content_of(5).size(), '!');
  const auto replace_and_bring = [&](const auto& change) {
    const int before = store.reads;
    fs::remove(path);
    folder.write(path.filename(), {evil.begin(), evil.end()});
    change();
    const Bytes found = content_of_file(cache.bring(store, store.object(), {}));
    EXPECT_EQ(std::string(found.begin(), found.end()), content_of(5));
    EXPECT_EQ(store.reads, before + 1);
  };
  replace_and_bring([&] { ::chmod(path.c_str(), 0666); });
  replace_and_bring([&] { ::chmod(path.c_str(), 0620); });
  replace_and_bring([&] {
    fs::rename(path, folder.path() / "elsewhere");
    fs::create_symlink(folder.path() / "elsewhere", path);
  });
  if (::geteuid() != 0) return;
  replace_and_bring([&] { EXPECT_EQ(::chown(path.c_str(), 12345, 12345), 0); });
}

TEST(ObjectCache, IsForThisUserAloneInAFolderForAll) {
  const TempFolder folder;
  const auto mode_of = [](const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  };
  EXPECT_EQ(mode_of(ObjectCache(folder.path() / "new" / "c", 1).folder()), 0700U);
  const fs::path own = "stoker-" + std::to_string(::geteuid());
  for (const mode_t mode : {0777, 01777}) {
    ::chmod(folder.path().c_str(), mode);
    const ObjectCache cache(folder.path(), 1 << 20);
    EXPECT_EQ(cache.folder(), folder.path() / own);
    EXPECT_EQ(mode_of(cache.folder()), 0700U);
  }
  ::chmod((folder.path() / own).c_str(), 0777);
  EXPECT_THAT(message_of([&] { const ObjectCache cache(folder.path(), 1); }),
              HasSubstr("everybody may write"));
  ::chmod(folder.path().c_str(), 0770);
  EXPECT_EQ(ObjectCache(folder.path(), 1).folder(), folder.path());
}

// 0 where a user with this number is refused the folder.
int refusal_for(uid_t user, const fs::path& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(2);
    try {
      const ObjectCache cache(folder, 1 << 20);
    } catch (const Error& error) {
      ::_exit(error.details().expected == "a folder of this user" ? 0 : 3);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(ObjectCache, RefusesAFolderOfSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to be root to be other users";
  const TempFolder folder;
  ::chmod(folder.path().c_str(), 0711);
  const fs::path cache = folder.path() / "cache";
  fs::create_directory(cache);
  ::chmod(cache.c_str(), 0777);
  ASSERT_EQ(::chown(cache.c_str(), 12345, 12345), 0);
  EXPECT_EQ(refusal_for(12346, cache), 0);
  EXPECT_EQ(refusal_for(12345, cache), 1);
  EXPECT_EQ(ObjectCache(cache, 1).folder(), cache / "stoker-0");  // root has a folder of its own
  ASSERT_EQ(::chown((cache / "stoker-0").c_str(), 12345, 12345), 0);
  EXPECT_THAT(message_of([&] { const ObjectCache refused(cache, 1); }), HasSubstr("number 12345"));
}

// The lock of a file, as a process that hangs holds it.
class HeldLock {
 public:
  explicit HeldLock(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_EQ(::flock(descriptor_, LOCK_EX), 0);
  }
  ~HeldLock() { ::close(descriptor_); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  void grow() const { EXPECT_EQ(::write(descriptor_, "x", 1), 1); }

 private:
  int descriptor_;
};

TEST(ObjectCache, DoesNotWaitForAProcessThatHangsWithALock) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 1 << 20, std::chrono::milliseconds(50));
  const FakeStore store(content_of(6));
  const HeldLock everything(folder.path() / "lock");
  const HeldLock part(folder.path() / (store.object().digest + ".part"));
  const Bytes found = content_of_file(cache.bring(store, store.object(), {}));
  EXPECT_EQ(std::string(found.begin(), found.end()), content_of(6));
  EXPECT_EQ(cache.bring_unknown(store, "o", {}).object.digest, store.object().digest);
  const FakeStore other(content_of(7));
  std::list<HeldLock> all;
  for (const char* number : {"", ".2", ".3", ".4"}) {
    all.emplace_back(folder.path() / (other.object().digest + number + ".part"));
  }
  EXPECT_THAT(message_of([&] { static_cast<void>(cache.bring(other, other.object(), {})); }),
              HasSubstr("4 processes that hold its lock"));
}

TEST(ObjectCache, WaitsAsLongAsAnotherProcessMakesProgress) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 1 << 20, std::chrono::milliseconds(300));
  const FakeStore store(content_of(8));
  std::jthread fetching;
  {
    const HeldLock part(folder.path() / (store.object().digest + ".part"));
    fetching = std::jthread([&] { static_cast<void>(cache.bring(store, store.object(), {})); });
    for (int i = 0; i < 60; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      part.grow();
    }
    EXPECT_EQ(store.reads, 0);
  }
  fetching.join();
  EXPECT_GE(store.reads, 1);
  EXPECT_FALSE(fs::exists(folder.path() / (store.object().digest + ".2.part")));
}

TEST(ObjectCache, IsNotEmptiedByAManifestThatNamesAnAbsurdSize) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 100'000);
  const FakeStore store(content_of(9));
  const fs::path kept = cache.bring(store, store.object(), {}).path();
  CachedObject lie = FakeStore(content_of(0)).object();
  lie.bytes = std::uint64_t{1} << 60;
  EXPECT_THAT(message_of([&] { static_cast<void>(cache.bring(store, lie, {})); }),
              HasSubstr("no space for an object"));
  lie.bytes = 200'000;  // fits on the disk, not in the cache
  EXPECT_THROW(static_cast<void>(cache.bring(store, lie, {})), Error);
  EXPECT_TRUE(fs::exists(kept));
}

TEST(ObjectCache, SaysWhyItsFolderCannotBeMade) {
  const TempFolder folder;
  folder.write("file", {1});
  const ErrorDetails error =
      error_of([&] { const ObjectCache cache(folder.path() / "file" / "deep" / "c", 1 << 20); });
  EXPECT_EQ(error.what, "cannot use the cache of objects");
  EXPECT_THAT(error.found, HasSubstr("Not a directory"));
  EXPECT_THAT(error.hint, HasSubstr("`cache_dir`"));
}

TEST(ObjectCache, SaysWhatIsInTheWayOfAnObject) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 1 << 20);
  const FakeStore store(content_of(1));
  const CachedObject object = store.object();
  fs::create_directories(cache.path_of(object) / "inside");
  const ErrorDetails known = error_of([&] { static_cast<void>(cache.bring(store, object, {})); });
  const ErrorDetails unknown =
      error_of([&] { static_cast<void>(cache.bring_unknown(store, "o", {})); });
  for (const ErrorDetails& error : {known, unknown}) {
    EXPECT_EQ(error.path, cache.path_of(object).string());
    EXPECT_THAT(error.found, HasSubstr("directory"));
  }
  // Nobody is made to write where a link leads.
  fs::remove_all(cache.path_of(object));
  const fs::path part = folder.path() / (object.digest + ".part");
  fs::remove(part);
  fs::create_symlink(folder.path() / "elsewhere", part);
  EXPECT_THAT(error_of([&] { static_cast<void>(cache.bring(store, object, {})); }).found,
              HasSubstr("symbolic links"));
  EXPECT_FALSE(fs::exists(folder.path() / "elsewhere"));
}

TEST(ObjectCache, SaysWhyAnObjectCannotBeWrittenAndCompletesItLater) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 1 << 20);
  const FakeStore store(content_of(2));
  const auto fetch = [&] {
    const FileSizeLimit limit(5'000);
    static_cast<void>(cache.bring(store, store.object(), {}));
  };
  EXPECT_THAT(message_of(fetch), HasSubstr("File too large"));
  store.bytes = 0;
  const Bytes found = content_of_file(cache.bring(store, store.object(), {}));
  EXPECT_EQ(std::string(found.begin(), found.end()), content_of(2));
  EXPECT_LT(store.bytes, 16'000U);  // not what had been written
}

TEST(ObjectCache, AStopEndsTheWaitForALock) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 1 << 20);  // patient for long
  const FakeStore store(content_of(3));
  const HeldLock part(folder.path() / (store.object().digest + ".part"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(
      message_of([&] { static_cast<void>(cache.bring(store, store.object(), stop.get_token())); }),
      HasSubstr("canceled"));
  EXPECT_EQ(store.reads, 0);
}

}  // namespace
}  // namespace stoker
