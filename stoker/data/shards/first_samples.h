// FirstSamples: samples that are needed before their shards can be there. Each is read from the
// store by a range request, once the index of its shard has been brought, and compared with its
// checksum. So a first batch needs its images' bytes, not a whole window of shards.
//
// Whatever goes wrong ends it for that sample or its shard, and so does the arrival of the shard:
// the reader then waits for the shard, whose messages and retries are the only ones. What is read
// in addition is bounded: the samples are named once, and together have at most kMostBytes and an
// eighth of their shards' bytes. So is the memory.
//
// Any thread may call any member. The threads end when all samples were read.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

#include "stoker/data/order/shard_order.h"
#include "stoker/data/shards/shard_set.h"

namespace stoker {

class FirstSamples {
 public:
  FirstSamples(std::shared_ptr<const ShardSet> set, std::shared_ptr<const ShardLayout> layout,
               const ShardOptions& options);
  ~FirstSamples();  // gives up what is under way
  FirstSamples(const FirstSamples&) = delete;
  FirstSamples& operator=(const FirstSamples&) = delete;

  // The samples in the order in which they will be read, at most kMost of them. Those whose shards
  // are small or here are not read. Only the first call counts.
  void begin(std::span<const std::uint64_t> samples);
  // Gives up; does not wait.
  void stop() noexcept { stop_.request_stop(); }

  struct Read {
    std::vector<std::byte> bytes;
    std::int32_t label = -1;
  };
  // Gives a sample once. Nothing where it must be read from its shard; else waits until it is there
  // or this is known, and adds the time to `waited`.
  [[nodiscard]] std::optional<Read> take(std::uint64_t sample, std::chrono::nanoseconds& waited);
  // Of a shard that is under way; null: nobody has brought it, or the shard is there.
  [[nodiscard]] std::shared_ptr<const ShardIndex> index_of(std::uint32_t shard) const;

  // Whoever is about to fetch a whole shard lets the samples go first, for kHeadStart at most.
  void let_pass(const std::stop_token& stop);
  // The shard is there, or cannot be had: nothing of it is needed here any more.
  void drop(std::uint32_t shard);

  static constexpr std::size_t kMost = 1024;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  static constexpr std::chrono::seconds kHeadStart{1};  // from begin() on
  // Without anything that arrives. Or the store's own, if it is shorter.
  static constexpr std::chrono::seconds kPatience{5};

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  enum class State : std::uint8_t { kWanted, kUnderWay, kThere, kGone };
  struct Wanted {
    std::uint64_t sample = 0;
    ShardLayout::Place place = {};
    State state = State::kWanted;
    Read read = {};
  };
  [[nodiscard]] static bool is_due(const Wanted& one) {
    return one.state == State::kWanted || one.state == State::kUnderWay;
  }
  void choose_samples(std::span<const std::uint64_t> samples);
  void run();
  [[nodiscard]] std::optional<Wanted*> next();
  void bring_index(Lock& lock, std::uint32_t shard);
  void read_sample(Lock& lock, Wanted& one);
  void drop_shard(std::uint32_t shard);
  void give_up();
  void note_change();

  std::shared_ptr<const ShardSet> set_;
  std::shared_ptr<const ShardLayout> layout_;
  std::uint64_t smallest_shard_;
  std::chrono::seconds patience_;
  std::stop_source stop_;
  std::atomic<bool> active_{false};  // samples are due or there, or indexes are kept
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Wanted> samples_;  // made once, in their order
  // Of shards that are under way; null: the index is being brought.
  std::unordered_map<std::uint32_t, std::shared_ptr<const ShardIndex>> indexes_;
  std::uint64_t bytes_left_ = 0;
  std::optional<Clock::time_point> begun_;
  Clock::time_point progress_;         // when something arrived
  std::vector<std::jthread> threads_;  // last: end before what they use
};

}  // namespace stoker
