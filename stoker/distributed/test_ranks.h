// Ranks as threads of one test program: real stores and connections, on 127.0.0.1.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stoker/distributed/group.h"

namespace stoker::test {

// One that nobody has at this moment.
inline int free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ::bind(probe, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(probe);
  return ntohs(address.sin_port);
}

// What each rank's thread threw, if anything.
inline std::vector<std::exception_ptr> try_ranks(int ranks, const GroupOptions& options,
                                                 const std::function<void(Group&)>& action) {
  const int port = free_port();
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const Launch launch = read_launch({.rank = rank, .ranks = ranks, .master_port = port},
                                          [](const char*) { return std::nullopt; });
        Group group(launch, options);
        action(group);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  threads.clear();
  return errors;
}

inline void run_ranks(int ranks, const std::function<void(Group&)>& action) {
  const GroupOptions options{.timeout = std::chrono::seconds(20)};
  for (const std::exception_ptr& error : try_ranks(ranks, options, [&](Group& group) {
         action(group);
         group.leave();
       })) {
    if (error) std::rethrow_exception(error);
  }
}

inline std::string text_of(const std::exception_ptr& error) {
  if (!error) return "no error";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace stoker::test
