#include "stoker/core/pipe_queue.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stoker/core/sanitizers.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using std::chrono::seconds;

// Runs `work` in a process of its own.
pid_t start_process(const std::function<void()>& work) {
  const pid_t process = fork();
  if (process != 0) return process;
  std::signal(SIGPIPE, SIG_IGN);
  work();
  _exit(0);
}

int status_of(pid_t process) {
  int status = -1;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  return status;
}

BytePipe::Clock::time_point soon() { return BytePipe::Clock::now() + seconds(20); }

struct Numbered {
  std::uint32_t writer, number;
};

// Longer than the kernel writes at once: six parts.
struct Long {
  std::uint64_t number;
  std::array<std::uint64_t, 2560> values;  // each is `number`
  [[nodiscard]] static Long of(std::uint64_t number) {
    Long message{};
    message.number = number;
    message.values.fill(number);
    return message;
  }
  [[nodiscard]] bool whole() const {
    return std::all_of(values.begin(), values.end(), [&](std::uint64_t v) { return v == number; });
  }
};

TEST(PipeQueue, GivesWhatWasPutInOrder) {
  PipeQueue<int> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.try_get());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(queue.put(i));
  EXPECT_EQ(queue.length(), 10U);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(queue.get(), i);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.lost(), 0U);
}

TEST(PipeQueue, ManyProcessesPutAndOneReaderGetsEachOnceInItsWritersOrder) {
  constexpr std::uint32_t kWriters = 4, kMessages = 2000;
  PipeQueue<Numbered> queue;
  std::vector<pid_t> writers;
  for (std::uint32_t w = 0; w < kWriters; ++w) {
    writers.push_back(start_process([&queue, w] {
      queue.close_reading_end();
      for (std::uint32_t i = 0; i < kMessages; ++i) queue.put({w, i});
    }));
  }
  queue.close_writing_end();
  std::array<std::uint32_t, kWriters> next{};
  while (const auto message = queue.get()) {
    ASSERT_LT(message->writer, kWriters);
    ASSERT_EQ(message->number, next[message->writer]++);
  }
  for (const std::uint32_t count : next) EXPECT_EQ(count, kMessages);
  for (const pid_t writer : writers) EXPECT_EQ(status_of(writer), 0);
}

TEST(PipeQueue, LongMessagesOfManyProcessesDoNotMix) {
  PipeQueue<Long> queue;
  std::vector<pid_t> writers;
  for (std::uint64_t w = 1; w <= 3; ++w) {
    writers.push_back(start_process([&queue, w] {
      for (std::uint64_t i = 0; i < 300; ++i) queue.put(Long::of(w * 1000 + i));
    }));
  }
  queue.close_writing_end();
  int messages = 0;
  while (const auto message = queue.get()) {
    ASSERT_TRUE(message->whole()) << message->number;
    ++messages;
  }
  EXPECT_EQ(messages, 900);
  for (const pid_t writer : writers) EXPECT_EQ(status_of(writer), 0);
}

TEST(PipeQueue, AWriterKilledInsideAMessageIsNoticedAndItsMessageNeverDelivered) {
  PipeQueue<Long> queue(1);  // room for one part: the writer has to wait inside the message
  const pid_t victim = start_process([&queue] { queue.put(Long::of(7)); });
  pollfd begun{.fd = queue.reading_end(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&begun, 1, 20'000), 1);
  kill(victim, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status_of(victim)));
  // It died with the lock; the next writer gets it all the same.
  const pid_t heir = start_process([&queue] { queue.put(Long::of(8)); });
  const auto message = queue.get_until(soon());
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->number, 8U);
  EXPECT_TRUE(message->whole());
  EXPECT_EQ(queue.lost(), 1U);
  EXPECT_EQ(status_of(heir), 0);
}

TEST(PipeQueue, WritersKilledAtAnyMomentNeverTearAMessage) {
  PipeQueue<Long> queue(4);
  const pid_t survivor = start_process([&queue] {
    for (std::uint64_t i = 0; i < 400; ++i) queue.put(Long::of(1'000'000 + i));
  });
  std::uint64_t from_survivor = 0;
  for (int round = 0; round < 40; ++round) {
    const pid_t victim = start_process([&queue] {
      for (std::uint64_t i = 0;; ++i) queue.put(Long::of(i));
    });
    for (int i = 0; i < 5 + round % 7; ++i) {
      const auto message = queue.get_until(soon());
      ASSERT_TRUE(message.has_value());
      ASSERT_TRUE(message->whole());
      if (message->number >= 1'000'000) {
        ASSERT_EQ(message->number, 1'000'000 + from_survivor++);
      }
    }
    kill(victim, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(status_of(victim)));
  }
  queue.close_writing_end();
  while (const auto message = queue.get()) {
    ASSERT_TRUE(message->whole());
    if (message->number >= 1'000'000) {
      ASSERT_EQ(message->number, 1'000'000 + from_survivor++);
    }
  }
  EXPECT_EQ(from_survivor, 400U);
  EXPECT_EQ(status_of(survivor), 0);
}

TEST(PipeQueue, BytesOfAWriterThatBreaksTheRulesAreDropped) {
  PipeQueue<Numbered> queue;
  ASSERT_EQ(write(queue.writing_end(), "x", 1), 1);
  const std::array<char, 100> noise{};
  ASSERT_EQ(write(queue.writing_end(), noise.data(), noise.size()), 100);
  EXPECT_TRUE(queue.put({3, 4}));
  const auto message = queue.get_until(soon());
  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->number, 4U);
}

TEST(PipeQueue, TheReaderGetsNothingWhenNoWriterIsLeft) {
  PipeQueue<int> queue;
  const pid_t writer = start_process([&queue] { queue.put(5); });
  queue.close_writing_end();
  EXPECT_EQ(queue.get(), 5);
  EXPECT_FALSE(queue.get().has_value());
  EXPECT_EQ(status_of(writer), 0);
}

TEST(PipeQueue, PutFailsWhenTheReaderIsGone) {
  PipeQueue<int> queue;
  const pid_t writer = start_process([&queue] {
    queue.close_reading_end();
    while (queue.put(1)) {
    }
  });
  queue.close_reading_end();
  EXPECT_EQ(status_of(writer), 0);
}

TEST(PipeQueue, GetUntilGivesUpAtTheDeadline) {
  PipeQueue<int> queue;
  const auto start = BytePipe::Clock::now();
  EXPECT_FALSE(queue.get_until(start + std::chrono::milliseconds(30)).has_value());
  EXPECT_GE(BytePipe::Clock::now() - start, std::chrono::milliseconds(30));
}

// UBSan's checks need descriptors of their own.
#if !STOKER_ASAN
TEST(PipeQueue, SaysThatThereIsNoPipe) {
  const ErrorDetails error = error_of([] {
    const DescriptorLimit one(1);  // for the memory, which closes it
    const PipeQueue<int> queue;
  });
  EXPECT_EQ(error.what, "cannot make a pipe");
  EXPECT_EQ(error.found, "Too many open files");
}
#endif

}  // namespace
}  // namespace stoker
