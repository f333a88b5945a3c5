#include "stoker/store/object_cache.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/digest.h"
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

TEST(ObjectCache, FetchesOnceForAnyNumberOfThreadsAndCaches) {
  TempFolder folder;
  FakeStore store(content_of(1));
  store.pause = std::chrono::milliseconds(1);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const ObjectCache cache(folder.path() / "c", 1 << 20);  // one each, as processes have
        const Bytes found = contents_of(cache.bring(store, store.object(), {}));
        EXPECT_EQ(std::string(found.begin(), found.end()), content_of(1));
      });
    }
  }
  EXPECT_EQ(store.reads, 1);
  for (const auto& entry : fs::directory_iterator(folder.path() / "c")) {
    EXPECT_NE(entry.path().extension(), ".part");
  }
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
  const Bytes found = contents_of(cache.bring(store, store.object(), {}));
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

TEST(ObjectCache, StaysWithinItsLimitWhenSeveralAreFetchedAtOnce) {
  const TempFolder folder;
  const ObjectCache cache(folder.path(), 50'000);  // two
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&cache, i] {
      FakeStore store(content_of(i));
      store.pause = std::chrono::milliseconds(5);  // all look for room before any has its object
      static_cast<void>(cache.bring(store, store.object(), {}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) total += entry.file_size();
  EXPECT_LE(total, 50'000U);
  EXPECT_GT(total, 20'000U);
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

}  // namespace
}  // namespace stoker
