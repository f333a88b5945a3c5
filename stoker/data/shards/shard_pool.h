// ShardPool: the shards that are open, a bounded number of them. Whoever needs one that is not open
// opens it, or waits for who does already; threads of the pool open those that come next.
//
// Any thread may call any member. Memory: the shards that are expected and kMore others (their
// indexes; their bytes stay in their files), and what the readers still hold. Files that a cache
// has removed take room on its disk as long as they are open: they are closed where a shard cannot
// be opened, unless they are expected.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

#include "stoker/core/input_file.h"
#include "stoker/data/shards/shard_index.h"

namespace stoker {

struct OpenShard {
  InputFile file;
  ShardIndex index;
};

class ShardPool {
 public:
  using Shard = std::shared_ptr<const OpenShard>;
  // Called by any thread; throws what get() then throws.
  using Open = std::function<Shard(std::uint32_t shard, std::stop_token stop)>;

  // `openers` threads open what is expected; 0: nobody does.
  ShardPool(Open open, int openers);
  ~ShardPool();  // gives up what is under way
  ShardPool(const ShardPool&) = delete;
  ShardPool& operator=(const ShardPool&) = delete;

  // Adds to `waited` the time until the shard was there. A failure is remembered for kFailedFor, so
  // that a store that is down is not asked anew for every sample.
  [[nodiscard]] Shard get(std::uint32_t shard, std::chrono::nanoseconds& waited);
  // Null where it is not open.
  [[nodiscard]] Shard get_if_open(std::uint32_t shard);
  // `shard` turned out to be damaged: the next get() opens it again. Calls `mend` before, unless
  // another thread has done the same since.
  void renew(std::uint32_t shard, const Shard& damaged, const std::function<void()>& mend);
  // These come next; replaces what was expected of the lane before.
  void expect(std::uint32_t lane, std::span<const std::uint32_t> shards);

  static constexpr std::chrono::seconds kFailedFor{10};
  static constexpr std::size_t kMore = 8;  // those that somebody is leaving or entering

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Shard shard;               // null: being opened, or failed
    std::exception_ptr error;  // of the last try
    Clock::time_point failed_at;
    bool opening = false;
    std::uint64_t used = 0;  // when, by a counter
  };
  [[nodiscard]] Shard open_now(std::unique_lock<std::mutex>& lock, std::uint32_t shard);
  void try_open(std::unique_lock<std::mutex>& lock, std::uint32_t shard);
  void close_removed();
  [[nodiscard]] bool is_expected(std::uint32_t shard) const;
  [[nodiscard]] static bool failed(const Entry& entry);
  void make_room();
  void run(const std::stop_token& stop);

  Open open_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unordered_map<std::uint32_t, Entry> entries_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> expected_of_lane_;
  std::deque<std::uint32_t> expected_;  // not yet looked at
  std::uint64_t uses_ = 0, closed_ = 0;
  std::vector<std::jthread> openers_;  // last: ends before what it uses
};

}  // namespace stoker
