// How fast samples of shards come from a disk whose cache is empty: by pread, by pread with the
// kernel told what comes next, through a mapping, and by io_uring. All sides in turn, several
// rounds, medians. Needs root, to drop the page cache, and as much free disk as --files say.
//
//     build/release/bench/cold_reads FOLDER [ROUNDS]
//
// As a feed reads them: windows of some shards, and in a window the samples in random order. Two
// threads take turns, each with every other sample.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSampleBytes = 100 << 10;
constexpr std::size_t kShardBytes = std::size_t{128} << 20, kShards = 16, kWindow = 4;
constexpr int kThreads = 2;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Place {
  int shard;
  std::uint64_t offset;
};

class Shards {
 public:
  explicit Shards(const fs::path& folder) : folder_(folder) {
    fs::create_directories(folder);
    std::vector<std::uint64_t> words(kShardBytes / 8);
    for (std::size_t i = 0; i < kShards; ++i) {
      const fs::path path = folder / fmt::format("{}.bin", i);
      std::mt19937_64 bits(i);
      std::generate(words.begin(), words.end(), std::ref(bits));
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(words.data()), kShardBytes);
      const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (file < 0 || fsync(file) != 0) fail("cannot make a shard");
      files_.push_back(file);
    }
  }
  ~Shards() {
    for (const int file : files_) close(file);
    std::error_code ignored;
    for (std::size_t i = 0; i < kShards; ++i) {
      fs::remove(folder_ / fmt::format("{}.bin", i), ignored);
    }
  }
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  [[nodiscard]] int file(int shard) const { return files_[static_cast<std::size_t>(shard)]; }

  // Of a whole epoch.
  [[nodiscard]] static std::vector<Place> order() {
    std::vector<Place> places;
    std::mt19937_64 chance(1);
    for (std::size_t window = 0; window < kShards; window += kWindow) {
      const auto begin = static_cast<std::ptrdiff_t>(places.size());
      for (std::size_t shard = window; shard < window + kWindow; ++shard) {
        for (std::size_t at = 0; at + kSampleBytes <= kShardBytes; at += kSampleBytes) {
          places.push_back({static_cast<int>(shard), at});
        }
      }
      std::shuffle(places.begin() + begin, places.end(), chance);
    }
    return places;
  }

 private:
  fs::path folder_;
  std::vector<int> files_;
};

void drop_page_cache() { std::ofstream("/proc/sys/vm/drop_caches") << "3\n"; }

// So that a reader cannot be faster by not looking.
std::atomic<std::uint64_t> looked_at{0};
void look(std::span<const std::byte> sample) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sample.size(); i += 64) sum += static_cast<std::uint64_t>(sample[i]);
  looked_at += sum;
}

void read_whole(int file, std::span<std::byte> into, std::uint64_t offset) {
  if (pread(file, into.data(), into.size(), static_cast<off_t>(offset)) !=
      static_cast<ssize_t>(into.size())) {
    fail("pread");
  }
}

using Mine = std::vector<Place>;  // what one thread reads

void by_pread(const Shards& shards, const Mine& mine) {
  std::vector<std::byte> sample(kSampleBytes);
  for (const Place& place : mine) {
    read_whole(shards.file(place.shard), sample, place.offset);
    look(sample);
  }
}

// The kernel begins to read what comes `ahead` samples later.
void by_advised_pread(const Shards& shards, const Mine& mine, std::size_t ahead) {
  std::vector<std::byte> sample(kSampleBytes);
  const auto advise = [&](const Place& place) {
    posix_fadvise(shards.file(place.shard), static_cast<off_t>(place.offset), kSampleBytes,
                  POSIX_FADV_WILLNEED);
  };
  for (std::size_t i = 0; i < std::min(ahead, mine.size()); ++i) advise(mine[i]);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (i + ahead < mine.size()) advise(mine[i + ahead]);
    read_whole(shards.file(mine[i].shard), sample, mine[i].offset);
    look(sample);
  }
}

void by_mapping(const Shards& shards, const Mine& mine, bool random) {
  std::vector<std::byte*> maps;
  for (std::size_t i = 0; i < kShards; ++i) {
    void* map =
        mmap(nullptr, kShardBytes, PROT_READ, MAP_SHARED, shards.file(static_cast<int>(i)), 0);
    if (map == MAP_FAILED) fail("mmap");
    madvise(map, kShardBytes, random ? MADV_RANDOM : MADV_NORMAL);
    maps.push_back(static_cast<std::byte*>(map));
  }
  for (const Place& place : mine) {
    look({maps[static_cast<std::size_t>(place.shard)] + place.offset, kSampleBytes});
  }
  for (std::byte* map : maps) munmap(map, kShardBytes);
}

// The two rings that a thread shares with the kernel: as much of them as reading needs.
class Uring {
 public:
  explicit Uring(unsigned depth) {
    io_uring_params facts{};
    ring_ = static_cast<int>(syscall(__NR_io_uring_setup, depth, &facts));
    if (ring_ < 0) fail("io_uring_setup");
    bytes_ = std::max(facts.sq_off.array + facts.sq_entries * sizeof(unsigned),
                      facts.cq_off.cqes + facts.cq_entries * sizeof(io_uring_cqe));
    base_ = map(bytes_, IORING_OFF_SQ_RING);
    entry_bytes_ = facts.sq_entries * sizeof(io_uring_sqe);
    entries_ = reinterpret_cast<io_uring_sqe*>(map(entry_bytes_, IORING_OFF_SQES));
    asked_ = word(facts.sq_off.tail);
    ask_mask_ = *word(facts.sq_off.ring_mask);
    ask_ = word(facts.sq_off.array);
    taken_ = word(facts.cq_off.head);
    answered_ = word(facts.cq_off.tail);
    answer_mask_ = *word(facts.cq_off.ring_mask);
    answers_ = reinterpret_cast<io_uring_cqe*>(base_ + facts.cq_off.cqes);
  }
  ~Uring() {
    munmap(base_, bytes_);
    munmap(entries_, entry_bytes_);
    close(ring_);
  }
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  void ask(int file, std::span<std::byte> into, std::uint64_t offset, std::uint64_t number) {
    const unsigned tail = *asked_, index = tail & ask_mask_;
    entries_[index] = {};
    entries_[index].opcode = IORING_OP_READ;
    entries_[index].fd = file;
    entries_[index].addr = reinterpret_cast<std::uint64_t>(into.data());
    entries_[index].len = static_cast<unsigned>(into.size());
    entries_[index].off = offset;
    entries_[index].user_data = number;
    ask_[index] = index;
    std::atomic_ref(*asked_).store(tail + 1, std::memory_order_release);
    ++unsent_;
  }

  // The number of a read that is done.
  std::uint64_t wait() {
    while (*taken_ == std::atomic_ref(*answered_).load(std::memory_order_acquire)) enter(1);
    if (unsent_ > 0) enter(0);
    const io_uring_cqe answer = answers_[*taken_ & answer_mask_];
    std::atomic_ref(*taken_).store(*taken_ + 1, std::memory_order_release);
    if (answer.res != static_cast<int>(kSampleBytes)) fail("io_uring read");
    return answer.user_data;
  }

 private:
  std::byte* map(std::size_t bytes, std::uint64_t what) const {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_,
                        static_cast<off_t>(what));
    if (mapped == MAP_FAILED) fail("mmap");
    return static_cast<std::byte*>(mapped);
  }
  [[nodiscard]] unsigned* word(unsigned offset) const {
    return reinterpret_cast<unsigned*>(base_ + offset);
  }
  void enter(unsigned wait_for) {
    const unsigned flags = wait_for > 0 ? IORING_ENTER_GETEVENTS : 0;
    const long sent =
        syscall(__NR_io_uring_enter, ring_, unsent_, wait_for, flags, nullptr, std::size_t{0});
    if (sent < 0) fail("io_uring_enter");
    unsent_ -= static_cast<unsigned>(sent);
  }

  int ring_;
  std::size_t bytes_ = 0, entry_bytes_ = 0;
  std::byte* base_ = nullptr;
  io_uring_sqe* entries_ = nullptr;
  unsigned *asked_ = nullptr, *ask_ = nullptr, *taken_ = nullptr, *answered_ = nullptr;
  unsigned ask_mask_ = 0, answer_mask_ = 0, unsent_ = 0;
  io_uring_cqe* answers_ = nullptr;
};

void by_uring(const Shards& shards, const Mine& mine, unsigned depth) {
  Uring ring(depth);
  std::vector<std::vector<std::byte>> buffers(depth, std::vector<std::byte>(kSampleBytes));
  std::size_t next = 0;
  const auto ask = [&](std::uint64_t buffer) {
    const Place& place = mine[next++];
    ring.ask(shards.file(place.shard), buffers[buffer], place.offset, buffer);
  };
  while (next < std::min<std::size_t>(depth, mine.size())) ask(next);
  for (std::size_t done = 0; done < mine.size(); ++done) {
    const std::uint64_t buffer = ring.wait();
    look(buffers[buffer]);
    if (next < mine.size()) ask(buffer);
  }
}

struct Side {
  const char* name;
  int threads;
  std::function<void(const Shards&, const Mine&)> read;
  std::vector<double> rates = {};
};

double samples_per_second(const Shards& shards, const Side& side) {
  const std::vector<Place> all = Shards::order();
  std::vector<Mine> mine(static_cast<std::size_t>(side.threads));
  for (std::size_t i = 0; i < all.size(); ++i) mine[i % mine.size()].push_back(all[i]);
  drop_page_cache();
  const auto start = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (const Mine& places : mine) threads.emplace_back([&] { side.read(shards, places); });
  }
  return static_cast<double>(all.size()) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run(const fs::path& folder, int rounds) {
  const Shards shards(folder);
  const auto advised = [](std::size_t ahead) {
    return [=](const Shards& s, const Mine& m) { by_advised_pread(s, m, ahead); };
  };
  const auto mapped = [](bool random) {
    return [=](const Shards& s, const Mine& m) { by_mapping(s, m, random); };
  };
  const auto uring = [](unsigned depth) {
    return [=](const Shards& s, const Mine& m) { by_uring(s, m, depth); };
  };
  std::vector<Side> sides = {{"pread", kThreads, by_pread},
                             {"pread, 16 threads", 16, by_pread},
                             {"pread, the kernel told 1 sample ahead", kThreads, advised(1)},
                             {"pread, the kernel told 16 samples ahead", kThreads, advised(16)},
                             {"mapping", kThreads, mapped(false)},
                             {"mapping, MADV_RANDOM", kThreads, mapped(true)},
                             {"io_uring, 16 reads at a time", kThreads, uring(16)}};
  for (int round = 0; round < rounds; ++round) {
    for (Side& side : sides) side.rates.push_back(samples_per_second(shards, side));
  }
  fmt::print("{} shards of {} MiB, samples of {} KiB, {} threads where not said, {} rounds\n\n",
             kShards, kShardBytes >> 20, kSampleBytes >> 10, kThreads, rounds);
  fmt::print("| reading | samples/s (least to most) | MB/s | to pread |\n|---|---|---|---|\n");
  for (const Side& side : sides) {
    const double rate = median(side.rates);
    const auto [least, most] = std::minmax_element(side.rates.begin(), side.rates.end());
    fmt::print("| {} | {:.0f} ({:.0f} to {:.0f}) | {:.0f} | {:.2f}× |\n", side.name, rate, *least,
               *most, rate * kSampleBytes / 1e6, rate / median(sides[0].rates));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) throw std::runtime_error("give a folder on the disk to be measured");
    run(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cold_reads: %s\n", error.what());
    return 1;
  }
}
