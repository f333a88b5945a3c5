// Worker processes give the same bytes as threads, and a codec that misbehaves costs its sample.
#include "stoker/pipeline/detail/isolated_workers.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/sanitizers.h"
#include "stoker/core/shared_memory.h"
#include "stoker/core/test_files.h"
#include "stoker/data/sources/folder_source.h"
#include "stoker/data/sources/subset.h"
#include "stoker/image/test_golden.h"
#include "stoker/pipeline/detail/lane.h"
#include "stoker/pipeline/feed.h"
#include "stoker/pipeline/test_sources.h"
#include "stoker/pipeline/test_threads.h"

namespace stoker::detail {
namespace {

using test::MadeUpSource;

// Sanitizers take terabytes of addresses and end the process their own way where memory does.
constexpr bool kSanitized = STOKER_ASAN || STOKER_TSAN;

struct Recording {
  std::vector<std::byte> pixels;
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> indices;
  std::vector<std::string> faults;  // names
  bool operator==(const Recording&) const = default;
};

Recording record(Feed& feed) {
  Recording run;
  while (const auto batch = feed.next()) {
    run.pixels.insert(run.pixels.end(), batch->pixels().begin(), batch->pixels().end());
    run.labels.insert(run.labels.end(), batch->labels().begin(), batch->labels().end());
    run.indices.insert(run.indices.end(), batch->indices().begin(), batch->indices().end());
  }
  for (const SampleFault& fault : feed.faults()) run.faults.push_back(fault.name);
  return run;
}

Recording run_all(const std::shared_ptr<const Source>& source, const char* policy,
                  const FeedOptions& options) {
  Feed feed(source, Policy::parse(policy), options);
  return record(feed);
}

// A codec that does something wrong with chosen samples: `act` with processes, a plain error with
// threads.
class HostileSource final : public MadeUpSource {
 public:
  HostileSource(std::function<void()> act, std::vector<std::uint64_t> bad)
      : MadeUpSource(40), act_(std::move(act)), bad_(std::move(bad)) {}

  [[nodiscard]] Result<Sample> read(std::uint64_t index, SampleBuffer& buffer) const override {
    if (is_bad(index)) return ErrorDetails{.what = "damaged on purpose"};
    return MadeUpSource::read(index, buffer);
  }
  [[nodiscard]] Result<Sample> decode(std::uint64_t index, std::span<const std::byte>,
                                      const FrameRequest&, SampleBuffer& buffer) const override {
    if (is_bad(index)) act_();
    return MadeUpSource::read(index, buffer);
  }

 private:
  [[nodiscard]] bool is_bad(std::uint64_t index) const {
    return std::find(bad_.begin(), bad_.end(), index) != bad_.end();
  }
  std::function<void()> act_;
  std::vector<std::uint64_t> bad_;
};

constexpr const char* kPolicy = "rotate(-15,15),shift(-2,2),noise(0.1)";

TEST(IsolatedWorkers, GiveTheSameBytesAsThreadsForAnyNumberOfThem) {
  const auto source = std::make_shared<MadeUpSource>(333);
  FeedOptions options{.workers = 1, .batch_size = 16, .epochs = 2, .seed = 5};
  const Recording expected = run_all(source, kPolicy, options);
  ASSERT_EQ(expected.labels.size(), 666U);
  options.isolate = true;
  for (const int workers : {1, 2, 3, 8}) {
    for (const std::uint32_t ring : {0U, 1U}) {
      options.workers = workers;
      options.ring_batches = ring;
      ASSERT_EQ(run_all(source, kPolicy, options), expected)
          << workers << " workers, ring of " << ring;
    }
  }
}

// The photographs of the test data as one class; the first ones under asan, which is slow.
std::shared_ptr<FolderSource> photographs(const std::filesystem::path& root) {
  ImageListing listing{.root = root, .class_names = {"photograph"}, .images = {}, .ignored = {}};
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() != ".JPEG") continue;
    listing.images.push_back({.path = entry.path().filename().string(), .label = 0});
  }
  std::sort(listing.images.begin(), listing.images.end(),
            [](const ListedImage& a, const ListedImage& b) { return a.path < b.path; });
  if (listing.images.size() > 60) listing.images.resize(60);
  return std::make_shared<FolderSource>(std::move(listing));
}

TEST(IsolatedWorkers, GiveTheSamePhotographsAsThreads) {
  const auto root = test_data() / "photos";
  STOKER_NEEDS(root);
  const auto source = photographs(root);
  for (const char* policy :
       {"imagenet-train", "random_resized_crop(224),hflip(0.5),randaugment(2,9)"}) {
    FeedOptions options{.workers = 2, .batch_size = 16, .seed = 3, .pixel_type = PixelType::kU8};
    const Recording expected = run_all(source, policy, options);
    ASSERT_EQ(expected.labels.size(), source->size());
    for (const bool isolate : {false, true}) {
      for (const int workers : {1, 2, 3, 8}) {
        options.isolate = isolate;
        options.workers = workers;
        ASSERT_EQ(run_all(source, policy, options), expected)
            << policy << ", " << workers << (isolate ? " processes" : " threads");
      }
    }
  }
}

// Their decoders make no system call but for memory: TIFF with each compression, BMP, PNM.
TEST(IsolatedWorkers, DecodeTiffBmpAndPnm) {
  const TempFolder folder;
  int files = 0;
  for (const test::GoldenImage& image : test::golden_images()) {
    if (!image.good() || image.page != 0) continue;
    folder.write(fmt::format("a/{:03}.{}", files++, image.format == "pnm" ? "ppm" : image.format),
                 image.bytes);
  }
  ASSERT_GT(files, 150);
  const auto source = std::make_shared<FolderSource>(list_images(folder.path()));
  FeedOptions options{.workers = 2, .batch_size = 16, .pixel_type = PixelType::kU8};
  const Recording expected = run_all(source, "resize(9,9)", options);
  ASSERT_EQ(expected.labels.size(), source->size());
  options.isolate = true;
  EXPECT_EQ(run_all(source, "resize(9,9)", options), expected);
}

TEST(IsolatedWorkers, ReadASubsetOfAFolder) {
  const auto root = test_data() / "photos";
  STOKER_NEEDS(root);
  const auto source = std::make_shared<Subset>(photographs(root), 10, 1);
  FeedOptions options{.workers = 2, .batch_size = 4};
  const Recording expected = run_all(source, "resize(64,64)", options);
  options.isolate = true;
  EXPECT_EQ(run_all(source, "resize(64,64)", options), expected);
}

TEST(IsolatedWorkers, AFileThatIsMissingIsReplacedAsWithThreads) {
  const auto root = test_data() / "photos";
  STOKER_NEEDS(root);
  ImageListing listing = photographs(root)->listing();
  listing.images.resize(12);
  listing.images[5].path = "not there.JPEG";
  const auto source = std::make_shared<FolderSource>(std::move(listing));
  FeedOptions options{.workers = 2, .batch_size = 4, .on_error = OnError::kSkip};
  const Recording expected = run_all(source, "resize(64,64)", options);
  ASSERT_EQ(expected.faults.size(), 1U);
  options.isolate = true;
  EXPECT_EQ(run_all(source, "resize(64,64)", options), expected);
}

// ---- Codecs that misbehave ----

struct Misdeed {
  const char* name;
  void (*act)();
  const char* reason;
  [[nodiscard]] bool ends() const { return std::string_view(name) != "Hangs"; }
};
// Instead of its bytes, which are addresses and differ from run to run.
void PrintTo(const Misdeed& misdeed, std::ostream* out) { *out << misdeed.name; }

void take_all_memory() {
  // Touched, and never given back.
  for (std::vector<std::vector<char>> taken;;) taken.emplace_back(std::size_t{16} << 20, 'x');
}

constexpr const char* kWantOfMemory = kSanitized ? "" : "out of memory: it takes more than 256 MB";

const Misdeed kMisdeeds[] = {
    {"Crashes", [] { std::raise(SIGSEGV); }, "killed by signal 11 (SIGSEGV)"},
    {"Aborts", [] { std::abort(); }, "killed by signal 6 (SIGABRT)"},
    {"Hangs",
     [] {
       for (volatile bool on = true; on;) {
       }
     },
     "took longer than 1 s"},
    {"TakesAllMemory", take_all_memory, kWantOfMemory},
    {"OpensAFile", [] { static_cast<void>(::open("/etc/hostname", O_RDONLY)); },
     "killed by signal 31 (SIGSYS): system call not allowed"},
    {"OpensASocket", [] { static_cast<void>(::socket(AF_INET, SOCK_STREAM, 0)); }, "SIGSYS"},
    {"Forks", [] { static_cast<void>(::fork()); }, "SIGSYS"},
    {"StartsAProgram", [] { ::execl("/bin/true", "true", nullptr); }, "SIGSYS"},
    {"KillsItsParent", [] { ::kill(getppid(), SIGKILL); }, "SIGSYS"},
    {"MakesMemoryExecutable",
     [] { ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); },
     "SIGSYS"},
    {"EndsItself", [] { _exit(0); }, "its process ended by itself, with code 0"},
    {"Throws", [] { throw std::runtime_error("thrown on purpose"); }, "thrown on purpose"},
};

class IsolatedMisdeed : public testing::TestWithParam<Misdeed> {};

constexpr std::chrono::seconds kShort{1};  // for what never ends
constexpr std::chrono::seconds kLong{60};  // for what ends by itself, on a busy machine too

FeedOptions limited(std::chrono::seconds sample_time) {
  FeedOptions options{.workers = 3, .batch_size = 4, .isolate = true};
  options.isolation.memory_bytes = std::size_t{256} << 20;
  options.isolation.sample_time = sample_time;
  return options;
}

// Every other sample is where it is when threads meet a plain error with the same ones.
TEST_P(IsolatedMisdeed, CostsExactlyItsSamples) {
  const auto source =
      std::make_shared<HostileSource>(GetParam().act, std::vector<std::uint64_t>{3, 17, 18});
  FeedOptions options = limited(GetParam().ends() ? kLong : kShort);
  options.on_error = OnError::kSkip;
  Feed feed(source, Policy::parse(kPolicy), options);
  const Recording run = record(feed);
  ASSERT_EQ(feed.faults().size(), run.faults.size());
  for (const SampleFault& fault : feed.faults()) {
    EXPECT_THAT(fault.reason, testing::HasSubstr(GetParam().reason)) << fault.name;
  }
  options.isolate = false;
  EXPECT_EQ(run, run_all(source, kPolicy, options));
}

TEST_P(IsolatedMisdeed, StopsTheRunWithItsNameAndReason) {
  const auto source =
      std::make_shared<HostileSource>(GetParam().act, std::vector<std::uint64_t>{21});
  FeedOptions options = limited(GetParam().ends() ? kLong : kShort);
  options.shuffle = false;
  Feed feed(source, Policy::parse(kPolicy), options);
  int batches = 0;
  try {
    while (feed.next()) ++batches;
    FAIL() << "the epoch ended";
  } catch (const SampleError& error) {
    EXPECT_EQ(error.sample_name(), "made-up#21");
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().reason));
  }
  EXPECT_EQ(batches, 5);
}

INSTANTIATE_TEST_SUITE_P(, IsolatedMisdeed, testing::ValuesIn(kMisdeeds),
                         [](const auto& misdeed) { return misdeed.param.name; });

// ---- Processes killed from outside ----

// Shared with the worker processes.
class SharedCount {
 public:
  SharedCount() : memory_(sizeof(std::atomic<int>), "a count") {
    new (memory_.bytes().data()) std::atomic<int>(0);
  }
  [[nodiscard]] std::atomic<int>& operator*() const {
    return *reinterpret_cast<std::atomic<int>*>(memory_.bytes().data());
  }

 private:
  SharedMemory memory_;
};

// As where memory runs out on the machine: the process is not to blame for it.
TEST(IsolatedWorkers, ASampleWhoseProcessIsKilledFromOutsideIsMadeByTheNext) {
  const SharedCount killed;
  const auto die_once = [&] {
    if ((*killed).fetch_add(1) == 0) std::raise(SIGKILL);
  };
  const auto source = std::make_shared<HostileSource>(die_once, std::vector<std::uint64_t>{17});
  Feed feed(source, Policy::parse(kPolicy), limited(kLong));
  EXPECT_EQ(record(feed), run_all(std::make_shared<MadeUpSource>(40), kPolicy, {.batch_size = 4}));
  EXPECT_EQ(*killed, 2);
}

TEST(IsolatedWorkers, ASampleAtWhichTwoProcessesAreKilledIsBlamed) {
  const SharedCount killed;
  const auto die = [&] {
    (*killed).fetch_add(1);
    std::raise(SIGKILL);
  };
  FeedOptions options = limited(kLong);
  options.on_error = OnError::kSkip;
  Feed feed(std::make_shared<HostileSource>(die, std::vector<std::uint64_t>{17}), Policy(),
            options);
  EXPECT_EQ(record(feed).labels.size(), 40U);
  ASSERT_EQ(feed.faults().size(), 1U);
  EXPECT_EQ(feed.faults()[0].name, "made-up#17");
  EXPECT_THAT(feed.faults()[0].reason, testing::HasSubstr("SIGKILL"));
  EXPECT_EQ(*killed, 2);
}

// glibc's allocator has an arena for each thread that was alive at once, and takes other ways with
// each number of them when memory runs out.
TEST(IsolatedWorkers, TellWantOfMemoryAfterAnyNumberOfThreads) {
  for (int threads = 7; threads <= 10; ++threads) {
    run_all(std::make_shared<MadeUpSource>(40), "none", {.workers = threads, .batch_size = 4});
    FeedOptions options = limited(kLong);
    options.on_error = OnError::kSkip;
    Feed feed(std::make_shared<HostileSource>(take_all_memory, std::vector<std::uint64_t>{3}),
              Policy(), options);
    record(feed);
    ASSERT_EQ(feed.faults().size(), 1U);
    EXPECT_THAT(feed.faults()[0].reason, testing::HasSubstr(kWantOfMemory)) << threads;
  }
}

// A feed made outside the main thread: its workers allocate where that thread did.
TEST(IsolatedWorkers, MayFreeMuchMemory) {
  const auto take_and_free = [] {
    std::vector<std::vector<char>> taken;
    for (int i = 0; i < 200; ++i) taken.emplace_back(100'000, 'x');
  };
  const auto source =
      std::make_shared<HostileSource>(take_and_free, std::vector<std::uint64_t>{3, 17});
  std::thread([&] {
    Feed feed(source, Policy(), limited(kLong));
    EXPECT_EQ(record(feed).labels.size(), 40U);
  }).join();
}

// ---- Nothing is left behind ----

// This process and those that come from it, by a name that they inherit; zombies too. The program's
// own name would not do: ctest runs other tests of it at the same time.
int processes_now() {
  const std::string own_name = fmt::format("iso{}", getpid());
  EXPECT_EQ(prctl(PR_SET_NAME, own_name.c_str()), 0);
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (name == own_name) ++count;
  }
  return count;
}

// Lines "name: value" of /proc/PID/status of every process of this test that has them.
std::vector<std::string> values_in_status(const std::string& key, const std::string& process_name) {
  std::vector<std::string> values;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream status(entry.path() / "status");
    std::string value;
    bool ours = false, filtered = false;
    for (std::string line; std::getline(status, line);) {
      if (line == "Name:\t" + process_name) ours = true;
      if (line == "Seccomp:\t2") filtered = true;  // a worker, and not its zygote
      if (line.starts_with(key)) value = line.substr(key.size());
    }
    if (ours && filtered) values.push_back(value);
  }
  return values;
}

bool processes_become(int expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (processes_now() != expected) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

int shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("memfd:stoker") != std::string::npos ? 1 : 0;
  }
  return count;
}

TEST(IsolatedWorkers, LeaveNoProcessDescriptorThreadOrMemoryBehind) {
  const int threads = test::threads_now();
  const int descriptors = entries_in("/proc/self/fd"), mappings = shared_mappings();
  const int processes = processes_now();
  for (const Misdeed& misdeed : kMisdeeds) {
    if (!misdeed.ends()) continue;
    const auto source =
        std::make_shared<HostileSource>(misdeed.act, std::vector<std::uint64_t>{0, 9, 30});
    FeedOptions options = limited(kLong);
    options.on_error = OnError::kSkip;
    Feed feed(source, Policy(), options);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(feed.next());  // and goes away early
  }
  EXPECT_EQ(entries_in("/proc/self/fd"), descriptors);
  EXPECT_EQ(shared_mappings(), mappings);
  EXPECT_TRUE(test::threads_end(threads));
  EXPECT_TRUE(processes_become(processes));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(IsolatedWorkers, HaveNoCapabilities) {
  const std::string own_name = fmt::format("iso{}", getpid());
  static_cast<void>(processes_now());  // sets the name, which they inherit
  Feed feed(std::make_shared<MadeUpSource>(40), Policy(), limited(kLong));
  ASSERT_TRUE(feed.next());
  for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"}) {
    const auto values = values_in_status(set, own_name);
    EXPECT_FALSE(values.empty());
    EXPECT_THAT(values, testing::Each("\t0000000000000000")) << set;
  }
  if (::geteuid() != 0) return;  // nobody else may empty this one, nor has anything to lose by it
  EXPECT_THAT(values_in_status("CapBnd:", own_name), testing::Each("\t0000000000000000"));
}

TEST(IsolatedWorkers, StandBackWhereAsked) {
  const std::string own_name = fmt::format("iso{}", getpid());
  static_cast<void>(processes_now());  // sets the name, which they inherit
  for (const int niceness : {0, 7}) {
    FeedOptions options = limited(kLong);
    options.niceness = niceness;
    Feed feed(std::make_shared<MadeUpSource>(40), Policy(), options);
    ASSERT_TRUE(feed.next());
    const auto workers = values_in_status("Pid:", own_name);
    EXPECT_FALSE(workers.empty());
    for (const std::string& worker : workers) {
      EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(std::stoi(worker))),
                getpriority(PRIO_PROCESS, 0) + niceness);
    }
  }
}

// Whether the system allows it, tried in a process of its own.
bool may_leave_the_network() {
  const pid_t child = fork();
  if (child == 0) {
    const bool left = unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 || unshare(CLONE_NEWNET) == 0;
    _exit(left ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(IsolatedWorkers, HaveNoNetworkWhereTheSystemAllowsIt) {
  Feed feed(std::make_shared<MadeUpSource>(40), Policy(), limited(kLong));
  ASSERT_TRUE(feed.next());
  // The zygote is this process's only child, and the workers are in its namespaces.
  std::string zygote;
  std::getline(std::ifstream(fmt::format("/proc/self/task/{}/children", getpid())), zygote, ' ');
  ASSERT_FALSE(zygote.empty());
  const auto network_of = [](const std::string& process) {
    return std::filesystem::read_symlink("/proc/" + process + "/ns/net").string();
  };
  EXPECT_EQ(network_of(zygote) != network_of("self"), may_leave_the_network());
}

TEST(IsolatedWorkers, EndWithTheProgramWhateverKilledIt) {
  const int processes = processes_now();
  const pid_t program = fork();
  if (program == 0) {
    Feed feed(std::make_shared<MadeUpSource>(100'000), Policy(),
              {.workers = 3, .batch_size = 4, .isolate = true});
    for (int i = 0; i < 10; ++i) static_cast<void>(feed.next());
    ::pause();
    _exit(0);
  }
  EXPECT_TRUE(processes_become(processes + 5)) << "the program, its zygote, three workers";
  ::kill(program, SIGKILL);
  EXPECT_EQ(waitpid(program, nullptr, 0), program);
  EXPECT_TRUE(processes_become(processes));
}

TEST(IsolatedWorkers, StopAtAnyMoment) {
  const auto source = std::make_shared<MadeUpSource>(640);
  const int threads = test::threads_now();
  Rng rng({.seed = 11}, 0);
  for (int stop = 0; stop < 30; ++stop) {
    Feed feed(source, Policy::parse("noise(0.1)"),
              {.workers = 1 + static_cast<int>(rng.uniform_int(4)),
               .batch_size = 16,
               .ring_batches = 1 + rng.uniform_int(6),
               .isolate = true});
    const std::uint32_t wanted = rng.uniform_int(12);
    for (std::uint32_t i = 0; i < wanted; ++i) static_cast<void>(feed.next());
    std::this_thread::sleep_for(std::chrono::microseconds(rng.uniform_int(3000)));
  }
  EXPECT_TRUE(test::threads_end(threads));
}

TEST(IsolatedWorkers, TellTheWatchdogWhichSampleTheyAreAt) {
  const auto source =
      std::make_shared<HostileSource>(kMisdeeds[2].act, std::vector<std::uint64_t>{21});
  std::mutex mutex;
  std::vector<std::string> stalled;
  FeedOptions options = limited(kShort);
  options.on_error = OnError::kSkip;
  options.stall_limit = std::chrono::milliseconds(400);
  options.on_stall = [&](const std::string& name, double) {
    const std::lock_guard lock(mutex);
    stalled.push_back(name);
  };
  EXPECT_EQ(run_all(source, "none", options).labels.size(), 40U);
  EXPECT_THAT(stalled, testing::Contains("made-up#21"));
}

// ---- What they cannot do ----

// Sample 3 lies in a file that is too large for the memory that processes share.
class HugeFileSource final : public MadeUpSource {
 public:
  using MadeUpSource::MadeUpSource;
  [[nodiscard]] Result<std::span<const std::byte>> read_bytes(std::uint64_t index,
                                                              const MakeRoom& room) const override {
    const std::size_t size = index == 3 ? detail::Lane::kMostEncodedBytes + 1 : 0;
    const std::span<const std::byte> encoded = room(size);
    return encoded;
  }
};

TEST(IsolatedWorkers, AFileThatIsTooLargeForThemCostsItsSample) {
  FeedOptions options = limited(kLong);
  options.on_error = OnError::kSkip;
  Feed feed(std::make_shared<HugeFileSource>(40), Policy(), options);
  EXPECT_EQ(record(feed).labels.size(), 40U);
  ASSERT_EQ(feed.faults().size(), 1U);
  EXPECT_EQ(feed.faults()[0].name, "made-up#3");
  EXPECT_THAT(feed.faults()[0].reason, testing::HasSubstr("too large for a worker process"));
}

TEST(IsolatedWorkers, EndTheRunWhereTheProcessThatStartsThemIsKilled) {
  Feed feed(std::make_shared<MadeUpSource>(100'000), Policy(), limited(kLong));
  ASSERT_TRUE(feed.next());
  const pid_t zygote = test::only_child();
  ASSERT_GT(zygote, 0);
  ASSERT_EQ(::kill(zygote, SIGKILL), 0);
  const ErrorDetails error = error_of([&] {
    while (feed.next()) {
    }
  });
  EXPECT_EQ(error.what, "worker processes cannot go on");
  EXPECT_EQ(error.found, "the process that starts workers is gone");
}

}  // namespace
}  // namespace stoker::detail
