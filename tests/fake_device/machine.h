// An accelerator made of CPU memory, for tests: its memory, streams and events, and what it finds
// wrong. LibTorch knows it as a device (fake_device.h); this half needs no LibTorch but for c10's
// OutOfMemoryError.
//
// Memory: each device has one file in memory that is mapped twice. Tensors have addresses of the
// first mapping, which nobody may read or write: the host gets SIGSEGV. Kernels use the second.
//
// Time: a job waits in its stream's queue until somebody waits for it or for a job after it. One
// thread runs jobs, in an order that streams and events allow and that is otherwise late or random.
//
// Order: each stream has a vector clock of what has happened before its next job. A job that
// touches a block without having waited for those that used it before is a violation, whatever the
// order in which they ran. Blocks are the unit: two streams that use halves of a block are not told
// apart. All threads of the host count as one.
//
// Any thread may call anything here.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "stoker/core/rng.h"

namespace stoker::fake {

inline constexpr int kDevices = 2;

struct StreamName {
  int device = 0;
  std::int64_t number = 0;
  auto operator<=>(const StreamName&) const = default;
};
// The number of a job in its stream, from 1.
using Ticket = std::uint64_t;
// Of each stream the last job that has happened before.
using Clock = std::map<StreamName, Ticket>;

enum class Fault {
  kUnordered,    // two jobs use a block, one of them writes, and neither waits for the other
  kFreedInUse,   // a block was freed while a stream used it that its allocator does not know of
  kFreed,        // a job uses a block that was freed before
  kOtherDevice,  // a job of one device uses memory of another
  kHostOperand,  // a job uses a tensor of the host
  kHostChanged,  // pinned memory changed, or was freed, between the call of a copy and the copy
};
struct Violation {
  Fault fault;
  std::string text;
};

struct Counters {
  std::uint64_t live_blocks = 0, live_bytes = 0, peak_bytes = 0;
  std::uint64_t allocations = 0, refused = 0;
  std::uint64_t jobs = 0;         // called
  std::uint64_t late_copies = 0;  // to or from pinned memory, that nobody waited for at once
  std::uint64_t host_waits = 0;   // calls in which the host waited for the device
  std::uint64_t overtaking = 0;   // jobs that ran before an older one of another stream
};

struct Touch {
  const void* address = nullptr;
  bool writes = false;
};

// Jobs are as late as they can be, or in a random order that this seed gives.
struct Order {
  std::optional<std::uint64_t> seed = {};
};

class Machine {
 public:
  static Machine& instance();  // never destroyed: tensors may be freed at the end of the program

  // Throws c10::OutOfMemoryError over the limit. The bytes are 0xFF: NaN, or -1.
  [[nodiscard]] void* allocate(StreamName stream, std::size_t bytes);
  void free(void* address);
  // The block's allocator learns that this stream uses it too.
  void note_use(const void* address, StreamName stream);
  // Where kernels find what tensors have at this address.
  [[nodiscard]] void* for_kernels(const void* address) const;
  // The device whose memory it is; -1: none.
  [[nodiscard]] int device_of(const void* address) const noexcept;

  [[nodiscard]] void* allocate_pinned(std::size_t bytes);
  void free_pinned(void* address);
  [[nodiscard]] bool is_pinned(const void* address);

  // Calls a job. An exception that it ends with is thrown to whoever waits next.
  void call(StreamName stream, const std::string& name, const std::vector<Touch>& touches,
            std::function<void()> run);
  // The same for a copy from pinned memory, whose bytes must not change until then.
  void call_copy_from(StreamName stream, const std::string& name, const std::vector<Touch>& touches,
                      const void* host, std::size_t bytes, std::function<void()> run);
  void wait_for(StreamName stream);
  void wait_for_device(int device);
  [[nodiscard]] bool is_idle(StreamName stream);

  struct Event {
    StreamName stream;
    Ticket ticket = 0;
    Clock clock;
  };
  [[nodiscard]] Event record(StreamName stream);
  // The stream's later jobs wait for the event.
  void block(const Event& event, StreamName stream);
  void wait_for(const Event& event);
  // Each question lets one job run, so that asking again and again ends.
  [[nodiscard]] bool has_happened(const Event& event);

  void set_order(const Order& order);
  void set_memory_limit(int device, std::uint64_t bytes);
  // After this many more allocations, one is refused. Negative: none.
  void refuse_allocation_after(std::int64_t allocations);
  [[nodiscard]] Counters counters(int device);
  void count_late_copy(int device);
  [[nodiscard]] std::vector<Violation> take_violations();
  void report(Fault fault, const std::string& text);
  // For the handler of SIGSEGV, so without the lock.
  [[nodiscard]] std::size_t block_bytes(const void* address) const noexcept;

 private:
  struct Use {
    Ticket ticket = 0;
    std::string name = {};
  };
  struct Block {
    std::byte* address = nullptr;
    std::size_t bytes = 0, mapped = 0;
    StreamName stream;
    std::uint64_t number = 0;  // "block 17"
    bool freed = false;
    int pending = 0;  // jobs that have not run
    StreamName writer;
    Use written;
    std::map<StreamName, Use> read;  // since then
    std::vector<StreamName> noted;
  };
  struct PinnedUse {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::uint64_t digest = 0;
    std::string name = {};
  };
  struct Job {
    std::string name;
    std::vector<std::shared_ptr<Block>> blocks;
    std::optional<PinnedUse> pinned;
    std::function<void()> run;
    std::uint64_t called = 0;  // of all jobs
  };
  struct Wait {
    StreamName stream;
    Ticket ticket = 0;
  };
  struct Stream {
    std::deque<std::variant<Job, Wait>> queue = {};
    Ticket called = 0, done = 0, wanted = 0;
    Clock clock = {};
  };
  struct Device {
    std::byte* memory = nullptr;   // that tensors see
    std::byte* kernels = nullptr;  // the same bytes
    int file = -1;
    std::size_t used = 0;
    std::uint64_t limit = ~std::uint64_t{0};
    Counters counters = {};
  };

  Machine();
  void call(StreamName stream, const std::vector<Touch>& touches, Job job);
  [[nodiscard]] std::shared_ptr<Block> block_at(const void* address);
  void check_order(const Block& block, const Touch& touch, StreamName stream, const Clock& clock,
                   const std::string& name);
  void check_free(const Block& block);
  void note(Fault fault, std::string text);
  void give_back(Block& block);
  void wait(std::unique_lock<std::mutex>& lock, StreamName stream, Ticket ticket);
  void throw_error();

  void work();
  [[nodiscard]] bool is_wanted() const;
  [[nodiscard]] bool can_run(const Stream& stream) const;
  [[nodiscard]] StreamName next_stream();
  void run_head(std::unique_lock<std::mutex>& lock, StreamName name);
  void check_pinned(const PinnedUse& use);

  mutable std::mutex mutex_;
  std::condition_variable wanted_, done_;
  Device devices_[kDevices];
  std::map<const std::byte*, std::shared_ptr<Block>> blocks_;  // live, or with jobs to run
  std::map<const std::byte*, std::size_t> pinned_;
  std::vector<void*> still_read_;  // pinned memory that was freed too early
  std::map<StreamName, Stream> streams_;
  Clock host_;
  Order order_;
  Rng random_;
  std::uint64_t calls_ = 0, blocks_made_ = 0;
  std::int64_t until_refusal_ = -1;
  std::vector<Violation> violations_;
  std::exception_ptr error_;
};

[[nodiscard]] std::string text_of(StreamName stream);

}  // namespace stoker::fake
