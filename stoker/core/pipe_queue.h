// PipeQueue<T>: a queue between processes, over a pipe, for many writers and one reader. It is made
// before the processes are forked; each then keeps the end that it needs.
//
// What is synchronised, and what need not be:
//   - Writers exclude each other, by a mutex in shared memory: a message longer than the kernel
//     writes in one piece (PIPE_BUF, 4 KiB) goes out in parts, and parts of two messages must not
//     mix; and messages must reach the pipe in the order of their numbers.
//   - The reader takes no lock. It is alone, so the kernel's own lock around each read is all it
//     needs, and no writer, dead or hostile, can keep it from reading.
//   - length() and empty() ask the kernel how much lies in the pipe: exact for the reader when
//     nobody writes, a moment's view for everybody else. No counter is kept that a writer could
//     die before changing.
//
// Writers that die: the mutex is robust, so the next writer takes it over. Nothing has to be
// drained or repaired then. The pipe is in packet mode, where the kernel moves each part whole or
// not at all and never joins two, so no part is ever cut and the reader never loses its step. Each
// part says which message and which part of it it is; the parts of a message whose writer died are
// followed by the first part of another, and are dropped. Numbers are taken under the lock, so a
// gap between two messages counts those that were begun and never came whole: lost().
//
// A full pipe makes writers wait while they hold the lock: the others would find no room either. An
// empty one makes the reader wait; it gets nothing once no process has a writing end any more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "stoker/core/shared_memory.h"

namespace stoker {

// The queue of messages of one length, as bytes.
class BytePipe {
 public:
  using Clock = std::chrono::steady_clock;

  // Room for at least `capacity` parts, as far as the system allows. Throws Error where there is
  // no pipe.
  BytePipe(std::size_t message_bytes, std::size_t capacity);
  ~BytePipe();
  BytePipe(const BytePipe&) = delete;
  BytePipe& operator=(const BytePipe&) = delete;

  // False when no reader is left; needs SIGPIPE to be ignored, else that signal ends the process.
  bool put(const void* message);
  enum class Outcome : std::uint8_t { kMessage, kNothingYet, kClosed };
  [[nodiscard]] Outcome get_until(void* message, Clock::time_point deadline);

  [[nodiscard]] std::size_t length() const noexcept;
  // Messages that were begun and never came whole, among those before the last one taken.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  [[nodiscard]] int reading_end() const noexcept { return reading_; }
  [[nodiscard]] int writing_end() const noexcept { return writing_; }
  void close_reading_end() noexcept;
  void close_writing_end() noexcept;

 private:
  struct Shared;
  struct PartHeader {
    std::uint64_t message;  // its number
    std::uint64_t part;     // of the message
  };
  [[nodiscard]] bool write_part(std::uint64_t number, std::size_t part, const std::byte* message);
  [[nodiscard]] bool take_part(std::span<const std::byte> part, std::byte* message);

  std::size_t message_bytes_, payload_bytes_, parts_;
  SharedMemory memory_;
  Shared* shared_;  // lies in memory_
  int reading_ = -1, writing_ = -1;
  // The reader's.
  std::vector<std::byte>
      part_;  // what was read last; a byte more than any has, so that longer ones are seen
  std::vector<std::byte> whole_;  // the message that is being put together
  std::uint64_t current_ = 0;     // its number
  std::uint64_t next_part_ = 0;
  std::uint64_t expected_ = 0;  // number of the next message, if none is lost
  std::uint64_t lost_ = 0;
};

template <class T>
class PipeQueue {
  static_assert(std::is_trivially_copyable_v<T>, "bytes are all that goes through a pipe");

 public:
  using Clock = BytePipe::Clock;
  explicit PipeQueue(std::size_t capacity = 16) : pipe_(sizeof(T), capacity) {}

  // Waits while the pipe is full. False when no reader is left.
  bool put(const T& value) { return pipe_.put(&value); }
  // Waits while the pipe is empty. Nothing once no process can write any more.
  [[nodiscard]] std::optional<T> get() { return get_until(Clock::time_point::max()); }
  // As get(), but gives up at the deadline.
  [[nodiscard]] std::optional<T> get_until(Clock::time_point deadline) {
    T value;
    if (pipe_.get_until(&value, deadline) != BytePipe::Outcome::kMessage) return std::nullopt;
    return value;
  }
  // Never waits.
  [[nodiscard]] std::optional<T> try_get() { return get_until(Clock::time_point::min()); }

  [[nodiscard]] std::size_t length() const noexcept { return pipe_.length(); }
  [[nodiscard]] bool empty() const noexcept { return length() == 0; }
  [[nodiscard]] std::uint64_t lost() const noexcept { return pipe_.lost(); }
  [[nodiscard]] int reading_end() const noexcept { return pipe_.reading_end(); }  // for poll()
  [[nodiscard]] int writing_end() const noexcept { return pipe_.writing_end(); }
  // What a writer does, and what a reader does, so that each sees when the other side is gone.
  void close_reading_end() noexcept { pipe_.close_reading_end(); }
  void close_writing_end() noexcept { pipe_.close_writing_end(); }

 private:
  BytePipe pipe_;
};

}  // namespace stoker
