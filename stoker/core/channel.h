// Channel<T>: a bounded queue for many writers and one reader.
//
// What is synchronised, and what need not be:
//   - Writers exclude each other (write_mutex_): two of them must not fill the same cell, and the
//     cell must be filled before tail_ tells of it.
//   - The reader takes no lock. It is alone, so nobody else moves head_; cells in [head_, tail_)
//   are
//     its own, because a writer fills a cell only while it lies outside that range. The
//     store to tail_ after the cell is written, and the load of tail_ before it is read, order the
//     two; head_ does the same in the other direction.
//   - length() and empty() read the two counters without a lock: they are exact for the reader
//     when nobody writes, and a moment's view for everybody else.
//   - Sleeping (full or empty) goes through gates, which cost nothing while nobody sleeps. A writer
//     that waits for room keeps the writers' lock: the others would find no room either.
//
// get() and try_get() belong to one thread at a time. close() may be called by anyone, more than
// once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/core/gate.h"
#include "stoker/core/invariant.h"

namespace stoker {

template <class T>
class Channel {
  static_assert(std::is_nothrow_move_constructible_v<T>, "a throwing move could lose an element");

 public:
  explicit Channel(std::size_t capacity) : cells_(capacity) {
    STOKER_INVARIANT(capacity > 0, "a channel needs room for one element");
  }

  // Waits while full. False, and the value is dropped, once the channel is closed.
  bool put(T value) {
    const std::lock_guard lock(write_mutex_);
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);  // only writers move it
    has_room_.wait([&] { return closed_.load() || tail - head_.load() < cells_.size(); });
    if (closed_.load()) return false;
    cells_[tail % cells_.size()].emplace(std::move(value));
    tail_.store(tail + 1);
    has_element_.notify_all();
    return true;
  }

  // Waits while empty. Nothing once the channel is closed and every element was taken.
  [[nodiscard]] std::optional<T> get() {
    has_element_.wait([&] { return sealed_.load() || !empty(); });
    return try_get();
  }

  // As get(), but gives up at the deadline.
  [[nodiscard]] std::optional<T> get_until(Gate::Clock::time_point deadline) {
    static_cast<void>(
        has_element_.wait_until([&] { return sealed_.load() || !empty(); }, deadline));
    return try_get();
  }

  // Never waits.
  [[nodiscard]] std::optional<T> try_get() {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);  // only this thread moves it
    if (head == tail_.load()) return std::nullopt;
    std::optional<T> value = std::exchange(cells_[head % cells_.size()], std::nullopt);
    head_.store(head + 1);
    has_room_.notify_all();
    return value;
  }

  [[nodiscard]] std::size_t length() const noexcept {
    // head_ first: it never passes tail_, so the difference cannot become negative.
    const std::uint64_t head = head_.load();
    return static_cast<std::size_t>(tail_.load() - head);
  }
  [[nodiscard]] bool empty() const noexcept { return length() == 0; }
  [[nodiscard]] std::size_t capacity() const noexcept { return cells_.size(); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(); }

  // No put() succeeds afterwards; what is inside can still be taken.
  void close() {
    closed_.store(true);
    has_room_.notify_all();
    {
      // A writer that saw the channel open may be about to store its element. Once we hold its
      // lock, it has; only then may the reader take an empty channel for the end.
      const std::lock_guard lock(write_mutex_);
      sealed_.store(true);
    }
    has_element_.notify_all();
  }

 private:
  std::vector<std::optional<T>> cells_;
  std::mutex write_mutex_;  // writers among themselves
  // Counters, not indices: they never wrap in practice, so full and empty cannot be confused.
  alignas(64) std::atomic<std::uint64_t> tail_{
      0};  // elements put; moved by writers under their lock
  alignas(64) std::atomic<std::uint64_t> head_{0};  // elements taken; moved by the reader
  std::atomic<bool> closed_{false};                 // no more puts
  std::atomic<bool> sealed_{false};                 // and none under way
  Gate has_room_;
  Gate has_element_;
};

}  // namespace stoker
