#include "stoker/core/pipe_queue.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker {

// What writers share.
struct BytePipe::Shared {
  Shared() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }

  // For std::lock_guard.
  void lock() {
    // The owner died. What it guards is a number and whole parts in the pipe, valid at every
    // moment.
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) pthread_mutex_consistent(&mutex);
  }
  void unlock() { pthread_mutex_unlock(&mutex); }

  pthread_mutex_t mutex;
  std::uint64_t next_number = 0;
};

namespace {

void close_end(int& end) noexcept {
  if (end >= 0) close(end);
  end = -1;
}

// Whether something can be read (or the end is known) before the deadline.
bool wait_readable(int end, BytePipe::Clock::time_point deadline) {
  using std::chrono::milliseconds;
  while (true) {
    int timeout = -1;
    if (deadline != BytePipe::Clock::time_point::max()) {
      const auto now = BytePipe::Clock::now();
      if (deadline <= now) return false;
      const auto left = std::chrono::ceil<milliseconds>(deadline - now).count();
      timeout = static_cast<int>(std::min<std::int64_t>(left, INT_MAX));
    }
    pollfd waiting{.fd = end, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, timeout) > 0) return true;
  }
}

}  // namespace

BytePipe::BytePipe(std::size_t message_bytes, std::size_t capacity)
    : message_bytes_(message_bytes),
      payload_bytes_(std::min<std::size_t>(message_bytes, PIPE_BUF - sizeof(PartHeader))),
      parts_((message_bytes + payload_bytes_ - 1) / payload_bytes_),
      memory_(sizeof(Shared), "a queue between processes"),
      shared_(new (memory_.bytes().data()) Shared),
      part_(sizeof(PartHeader) + payload_bytes_ + 1),
      whole_(message_bytes) {
  int ends[2];
  // Packets: see the header.
  if (pipe2(ends, O_CLOEXEC | O_DIRECT) != 0) {
    throw Error({.what = "cannot make a pipe", .found = std::strerror(errno)});
  }
  reading_ = ends[0];
  writing_ = ends[1];
  // A packet takes a page. More than the system grants one user is not an error.
  fcntl(writing_, F_SETPIPE_SZ, static_cast<int>(std::min<std::size_t>(capacity, 256)) * PIPE_BUF);
  // Only of this end: the reader waits in poll(), where it can have a deadline.
  fcntl(reading_, F_SETFL, O_DIRECT | O_NONBLOCK);
}

BytePipe::~BytePipe() {
  // The mutex is not destroyed: other processes may still use it, and it owns nothing.
  close_reading_end();
  close_writing_end();
}

void BytePipe::close_reading_end() noexcept { close_end(reading_); }
void BytePipe::close_writing_end() noexcept { close_end(writing_); }

bool BytePipe::put(const void* message) {
  shared_->lock();
  const std::uint64_t number = shared_->next_number++;
  bool written = true;
  for (std::size_t part = 0; written && part < parts_; ++part) {
    written = write_part(number, part, static_cast<const std::byte*>(message));
  }
  shared_->unlock();
  return written;
}

bool BytePipe::write_part(std::uint64_t number, std::size_t part, const std::byte* message) {
  std::byte packet[PIPE_BUF];
  const PartHeader header{.message = number, .part = part};
  const std::size_t begin = part * payload_bytes_;
  const std::size_t bytes = std::min(payload_bytes_, message_bytes_ - begin);
  std::memcpy(packet, &header, sizeof(header));
  std::memcpy(packet + sizeof(header), message + begin, bytes);
  while (true) {
    if (write(writing_, packet, sizeof(header) + bytes) >= 0) return true;  // whole, as a packet
    if (errno != EINTR) return false;
  }
}

BytePipe::Outcome BytePipe::get_until(void* message, Clock::time_point deadline) {
  while (true) {
    const ssize_t got = read(reading_, part_.data(), part_.size());
    if (got == 0) return Outcome::kClosed;
    if (got > 0) {
      const std::span part(part_.data(), static_cast<std::size_t>(got));
      if (take_part(part, static_cast<std::byte*>(message))) return Outcome::kMessage;
    } else if (errno == EAGAIN) {
      if (!wait_readable(reading_, deadline)) return Outcome::kNothingYet;
    } else if (errno != EINTR) {
      return Outcome::kClosed;
    }
  }
}

// Whether the part that was read completes a message. A part that does not fit is dropped: its
// message's beginning was, or its writer does not keep to the rules.
bool BytePipe::take_part(std::span<const std::byte> part, std::byte* message) {
  PartHeader header;
  if (part.size() < sizeof(header)) return false;
  std::memcpy(&header, part.data(), sizeof(header));
  if (header.part == 0) {
    current_ = header.message;
    next_part_ = 0;
  }
  if (header.message != current_ || header.part != next_part_ || header.part >= parts_)
    return false;
  const std::size_t begin = header.part * payload_bytes_;
  const std::size_t bytes = std::min(payload_bytes_, message_bytes_ - begin);
  if (part.size() != sizeof(header) + bytes) return false;
  std::memcpy(whole_.data() + begin, part.data() + sizeof(header), bytes);
  if (++next_part_ < parts_) return false;
  next_part_ = 0;
  if (current_ >= expected_) lost_ += current_ - expected_;
  expected_ = current_ + 1;
  std::memcpy(message, whole_.data(), message_bytes_);
  return true;
}

std::size_t BytePipe::length() const noexcept {
  int bytes = 0;
  if (ioctl(reading_, FIONREAD, &bytes) != 0) return 0;
  return static_cast<std::size_t>(bytes) / (message_bytes_ + parts_ * sizeof(PartHeader));
}

}  // namespace stoker
