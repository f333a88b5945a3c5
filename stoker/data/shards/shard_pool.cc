#include "stoker/data/shards/shard_pool.h"

#include <algorithm>
#include <utility>

#include <pthread.h>

namespace stoker {

ShardPool::ShardPool(Open open, int openers) : open_(std::move(open)) {
  for (int i = 0; i < openers; ++i) {
    openers_.emplace_back([this] {
      pthread_setname_np(pthread_self(), "shards");
      run(stop_.get_token());
    });
  }
}

ShardPool::~ShardPool() {
  stop_.request_stop();
  openers_.clear();  // joins
}

bool ShardPool::failed(const Entry& entry) {
  return entry.error != nullptr && Clock::now() - entry.failed_at < kFailedFor;
}

ShardPool::Shard ShardPool::get(std::uint32_t shard, std::chrono::nanoseconds& waited) {
  std::unique_lock lock(mutex_);
  Entry& found = entries_[shard];
  found.used = ++uses_;
  if (found.shard != nullptr) return found.shard;
  const auto start = Clock::now();
  while (true) {
    Entry& entry = entries_[shard];
    if (entry.shard != nullptr || failed(entry) || !entry.opening) break;
    changed_.wait(lock);
  }
  Entry& entry = entries_[shard];
  if (failed(entry)) std::rethrow_exception(entry.error);
  Shard result = entry.shard != nullptr ? entry.shard : open_now(lock, shard);
  waited += Clock::now() - start;
  return result;
}

ShardPool::Shard ShardPool::get_if_open(std::uint32_t shard) {
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(shard);
  return entry == entries_.end() ? nullptr : entry->second.shard;
}

void ShardPool::renew(std::uint32_t shard, const Shard& damaged,
                      const std::function<void()>& mend) {
  const std::scoped_lock lock(mutex_);
  const auto entry = entries_.find(shard);
  if (entry == entries_.end() || entry->second.shard != damaged) return;
  mend();
  entry->second.shard = nullptr;
}

// Opens without the lock; the entry says that somebody does.
void ShardPool::try_open(std::unique_lock<std::mutex>& lock, std::uint32_t shard) {
  entries_[shard].opening = true;
  lock.unlock();
  Shard opened;
  std::exception_ptr error;
  try {
    opened = open_(shard, stop_.get_token());
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  Entry& entry = entries_[shard];
  entry.opening = false;
  entry.shard = opened;
  entry.error = error;
  entry.failed_at = Clock::now();
  entry.used = ++uses_;
}

ShardPool::Shard ShardPool::open_now(std::unique_lock<std::mutex>& lock, std::uint32_t shard) {
  constexpr int kMostTries = 8;  // others may take the room again
  for (int tries = 0; tries < kMostTries; ++tries) {
    const std::uint64_t closed_before = closed_;
    try_open(lock, shard);
    if (entries_[shard].error == nullptr || stop_.stop_requested()) break;
    close_removed();
    if (closed_ == closed_before) break;  // nobody has made room since
  }
  const Entry entry = entries_[shard];
  make_room();
  changed_.notify_all();
  if (entry.error != nullptr) std::rethrow_exception(entry.error);
  return entry.shard;
}

bool ShardPool::is_expected(std::uint32_t shard) const {
  return std::ranges::any_of(expected_of_lane_, [&](const auto& lane) {
    return std::ranges::find(lane.second, shard) != lane.second.end();
  });
}

void ShardPool::close_removed() {
  closed_ += std::erase_if(entries_, [&](const auto& entry) {
    const auto& [shard, state] = entry;
    return state.shard != nullptr && !state.opening && !is_expected(shard) &&
           state.shard->file.is_removed();
  });
}

// Forgets those that were used longest ago. Readers that still hold one keep it.
void ShardPool::make_room() {
  std::size_t most = kMore;
  for (const auto& [lane, shards] : expected_of_lane_) most += shards.size();
  while (entries_.size() > most) {
    auto oldest = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (entry->second.opening) continue;
      if (oldest == entries_.end() || entry->second.used < oldest->second.used) oldest = entry;
    }
    if (oldest == entries_.end()) return;
    entries_.erase(oldest);
  }
}

void ShardPool::expect(std::uint32_t lane, std::span<const std::uint32_t> shards) {
  const std::scoped_lock lock(mutex_);
  expected_of_lane_[lane].assign(shards.begin(), shards.end());
  for (const std::uint32_t shard : shards) {
    if (entries_.contains(shard) || std::ranges::find(expected_, shard) != expected_.end())
      continue;
    expected_.push_back(shard);
  }
  changed_.notify_all();
}

void ShardPool::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !expected_.empty(); })) {
    const std::uint32_t shard = expected_.front();
    expected_.pop_front();
    const auto entry = entries_.find(shard);
    const bool needed =
        entry == entries_.end() ||
        (entry->second.shard == nullptr && !entry->second.opening && !failed(entry->second));
    if (!needed || stop.stop_requested()) continue;
    try {
      static_cast<void>(open_now(lock, shard));
    } catch (...) {  // whoever needs it will be told
    }
  }
}

}  // namespace stoker
