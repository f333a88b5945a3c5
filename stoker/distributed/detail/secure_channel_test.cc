#include "stoker/distributed/detail/secure_channel.h"

#include <array>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "stoker/distributed/detail/network.h"

namespace stoker::detail {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSecret(32, 's'), kOther = std::string(31, 's') + "t";

SecureChannel::Deadline soon(milliseconds time = milliseconds(5000)) {
  return std::chrono::steady_clock::now() + time;
}

// Two connected sockets that do not block.
struct Sockets {
  std::array<int, 2> numbers = make();
  Descriptor here{numbers[0]}, there{numbers[1]};

  static std::array<int, 2> make() {
    std::array<int, 2> made{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, made.data()) != 0) std::abort();
    return made;
  }
};

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ChannelError& error) {
    return error.what();
  }
  return "none";
}

std::string all_bytes(int socket) {
  std::array<char, 4096> bytes{};
  std::string found;
  pollfd one{.fd = socket, .events = POLLIN, .revents = 0};
  while (::poll(&one, 1, 100) > 0) {
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got <= 0) break;
    found.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return found;
}

void put(int socket, const std::string& bytes) {
  ASSERT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// What the listener says of somebody who writes these bytes and ends, or is silent.
std::string refusal_of(const std::string& bytes, bool ends, milliseconds patience) {
  const Sockets sockets;
  put(sockets.here.number, bytes);
  if (ends) ::shutdown(sockets.here.number, SHUT_WR);
  return failure_of([&] {
    static_cast<void>(SecureChannel::answer(sockets.there.number, kSecret, soon(patience)));
  });
}

// A listener that admits, then sends back what it gets, `times` times.
std::jthread echo(int socket, int times) {
  return std::jthread([=] {
    SecureChannel channel = SecureChannel::answer(socket, kSecret, soon());
    for (int i = 0; i < times; ++i) channel.send(channel.receive(soon()), soon());
  });
}

TEST(SecureChannel, TheSameSecretOpensItBothWays) {
  const Sockets sockets;
  const std::jthread listener = echo(sockets.there.number, 3);
  SecureChannel channel = SecureChannel::call(sockets.here.number, kSecret, soon());
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{3} << 20}) {
    const std::string text(length, 'x');
    channel.send(text, soon());
    EXPECT_EQ(channel.receive(soon()), text);
  }
}

TEST(SecureChannel, AnotherSecretIsRefusedOnBothSides) {
  const Sockets sockets;
  std::string there;
  std::jthread listener([&] {
    there = failure_of(
        [&] { static_cast<void>(SecureChannel::answer(sockets.there.number, kSecret, soon())); });
  });
  EXPECT_THROW(static_cast<void>(SecureChannel::call(sockets.here.number, kOther, soon())),
               RefusedError);
  listener.join();
  EXPECT_EQ(there, "another secret");
}

// The caller wants a proof too: somebody in rank 0's place that admits everybody gets nothing.
TEST(SecureChannel, AListenerThatCannotProveItselfGetsNothing) {
  const Sockets sockets;
  put(sockets.there.number, std::string(32, 'n') + "y" + std::string(32, 'p'));
  EXPECT_THAT(failure_of([&] {
                static_cast<void>(SecureChannel::call(sockets.here.number, kSecret, soon()));
              }),
              HasSubstr("does not know the secret"));
}

TEST(SecureChannel, WhatACallerSentBeforeIsNoProofAgain) {
  std::string recorded;
  {
    // Somebody on the wire passes everything on, and keeps it.
    const Sockets near, far;
    const std::jthread listener = echo(far.there.number, 1);
    std::jthread caller([&] {
      SecureChannel channel = SecureChannel::call(near.here.number, kSecret, soon());
      channel.send("a value", soon());
      EXPECT_EQ(channel.receive(soon()), "a value");
    });
    for (int i = 0; i < 3; ++i) {
      const std::string out = all_bytes(near.there.number);
      recorded += out;
      put(far.here.number, out);
      put(near.there.number, all_bytes(far.here.number));
    }
  }
  EXPECT_THAT(recorded, Not(HasSubstr("a value")));
  EXPECT_GT(recorded.size(), 40U + 32U);
  EXPECT_EQ(refusal_of(recorded, true, milliseconds(2000)), "another secret");
}

TEST(SecureChannel, StrangersAreDroppedAtTheDeadline) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal_of("", false, milliseconds(200)), "no answer in time");
  EXPECT_EQ(refusal_of("STOKER1\n", false, milliseconds(200)), "no answer in time");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2000));
}

TEST(SecureChannel, OneThatSendsAByteNowAndThenGetsNoMoreTime) {
  const Sockets sockets;
  std::jthread stranger([&](const std::stop_token& stop) {
    for (const char byte : std::string("STOKER1\n") + std::string(64, 'x')) {
      if (stop.stop_requested()) return;
      ::send(sockets.here.number, &byte, 1, MSG_NOSIGNAL);
      std::this_thread::sleep_for(milliseconds(40));
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(failure_of([&] {
              static_cast<void>(
                  SecureChannel::answer(sockets.there.number, kSecret, soon(milliseconds(300))));
            }),
            "no answer in time");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(1500));
}

TEST(SecureChannel, GarbageIsRefusedAtItsFirstBytes) {
  const std::string c10ds("\x09\x3c\x85\xf7\xce\x01\0\0\0\0", 10);  // TCPStore's greeting
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), c10ds, std::string(100'000, '\xff')}) {
    EXPECT_EQ(refusal_of(bytes, true, milliseconds(2000)), "no greeting of a rank");
  }
  EXPECT_EQ(refusal_of("STOKER1\n" + std::string(100'000, 'x'), true, milliseconds(2000)),
            "another secret");
  EXPECT_EQ(refusal_of("STOKER1", true, milliseconds(2000)),
            "the other side closed the connection");
}

class Damaged : public ::testing::Test {
 protected:
  // What the listener says of an admitted caller who then writes these bytes.
  static std::string refusal_of_text(const std::string& bytes) {
    const Sockets sockets;
    std::string found;
    std::jthread listener([&] {
      SecureChannel channel = SecureChannel::answer(sockets.there.number, kSecret, soon());
      found = failure_of([&] { static_cast<void>(channel.receive(soon())); });
    });
    static_cast<void>(SecureChannel::call(sockets.here.number, kSecret, soon()));
    put(sockets.here.number, bytes);
    listener.join();
    return found;
  }
};

TEST_F(Damaged, TextsAreRefused) {
  EXPECT_THAT(refusal_of_text(std::string("\3\0\0\0", 4) + std::string(3 + 16, 'x')),
              HasSubstr("tag does not fit"));
  EXPECT_THAT(refusal_of_text("\xff\xff\xff\xff"), HasSubstr("too long"));
}

}  // namespace
}  // namespace stoker::detail
