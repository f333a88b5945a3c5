#include "stoker/core/channel.h"

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stoker {
namespace {

using namespace std::chrono_literals;

TEST(Channel, GivesElementsInTheOrderOneWriterPutThem) {
  Channel<int> channel(4);
  EXPECT_TRUE(channel.empty());
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(channel.put(i));
  EXPECT_EQ(channel.length(), 4U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(channel.get(), i);
  EXPECT_TRUE(channel.empty());
  EXPECT_EQ(channel.try_get(), std::nullopt);
}

TEST(Channel, CarriesThingsThatCannotBeCopied) {
  Channel<std::unique_ptr<int>> channel(1);
  channel.put(std::make_unique<int>(7));
  EXPECT_EQ(**channel.get(), 7);
}

TEST(Channel, ManyWritersLoseNothingAndKeepTheirOwnOrder) {
  constexpr int kWriters = 8, kEach = 20'000;
  Channel<std::pair<int, int>> channel(16);
  std::vector<std::jthread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&channel, w] {
      for (int i = 0; i < kEach; ++i) channel.put({w, i});
    });
  }
  std::vector<int> next(kWriters);
  for (int i = 0; i < kWriters * kEach; ++i) {
    const auto element = channel.get();
    ASSERT_TRUE(element);
    ASSERT_EQ(element->second, next[element->first]++);
    ASSERT_LE(channel.length(), 16U);
  }
  EXPECT_TRUE(channel.empty());
}

TEST(Channel, PutWaitsForRoom) {
  Channel<int> channel(1);
  channel.put(1);
  std::atomic<bool> second_in = false;
  std::jthread writer([&] {
    channel.put(2);
    second_in = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(second_in);
  EXPECT_EQ(channel.get(), 1);
  EXPECT_EQ(channel.get(), 2);
  writer.join();
  EXPECT_TRUE(second_in);
}

TEST(Channel, CloseLetsTheReaderTakeWhatIsInside) {
  Channel<int> channel(4);
  channel.put(1);
  channel.put(2);
  channel.close();
  channel.close();
  EXPECT_FALSE(channel.put(3));
  EXPECT_EQ(channel.get(), 1);
  EXPECT_EQ(channel.get(), 2);
  EXPECT_EQ(channel.get(), std::nullopt);
}

TEST(Channel, CloseWakesASleepingReader) {
  Channel<int> channel(1);
  std::jthread reader([&] { EXPECT_EQ(channel.get(), std::nullopt); });
  std::this_thread::sleep_for(10ms);
  channel.close();
}

TEST(Channel, CloseWakesEverySleepingWriter) {
  Channel<int> channel(1);
  channel.put(0);
  std::vector<std::jthread> writers;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 4; ++i) writers.emplace_back([&] { refused += !channel.put(1); });
  std::this_thread::sleep_for(10ms);
  channel.close();
  writers.clear();
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(channel.get(), 0);
}

TEST(Channel, GetGivesUpAtItsDeadline) {
  Channel<int> channel(1);
  const auto start = Gate::Clock::now();
  EXPECT_EQ(channel.get_until(start + 30ms), std::nullopt);
  EXPECT_GE(Gate::Clock::now() - start, 30ms);
}

// Every put that reported success is seen by the reader, whenever the close falls.
TEST(Channel, AnAcceptedElementIsNeverLostToClose) {
  for (int round = 0; round < 500; ++round) {
    Channel<int> channel(2);
    std::atomic<int> accepted = 0;
    std::vector<std::jthread> writers;
    for (int w = 0; w < 3; ++w) {
      writers.emplace_back([&] {
        while (channel.put(1)) ++accepted;
      });
    }
    std::jthread closer([&] { channel.close(); });
    int taken = 0;
    while (channel.get()) ++taken;
    writers.clear();
    ASSERT_EQ(taken, accepted);
  }
}

}  // namespace
}  // namespace stoker
