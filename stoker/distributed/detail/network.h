// The few things about addresses that c10d leaves open: which of this machine's addresses to use,
// a port that listens there and nowhere else, and connections that are made in time.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

namespace stoker::detail {

// Closes it unless it is taken.
struct Descriptor {
  int number = -1;
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int take();
};

// The address that this machine uses to reach `host`. Throws Error where the name is unknown or no
// way leads there. Nothing is sent.
[[nodiscard]] std::string address_towards(const std::string& host, std::uint16_t port);

// Of the interface, e.g. "eth0": its first IPv4 address, else its first IPv6 one. Throws Error
// where there is none, with the names that there are.
[[nodiscard]] std::string address_of_interface(const std::string& name);

// A descriptor that listens at this address alone. c10d's own would listen at all of them.
[[nodiscard]] int listen_at(const std::string& address, std::uint16_t port);

// The next connection, which does not block, and the address that it comes from; -1 where there is
// none.
[[nodiscard]] int accept_at(int listener, std::string& from);

// A connection, which does not block, to one of the host's present addresses: the name is looked up
// each time, because it may move to another machine. Throws Error where nobody answers.
[[nodiscard]] int connect_to(const std::string& host, std::uint16_t port,
                             std::chrono::steady_clock::time_point deadline);

// Descriptors of this process's TCP connections and listeners, but for those from or to
// `except_port`.
[[nodiscard]] std::set<int> tcp_connections(std::uint16_t except_port);
// Both ends see their connections end at once, whoever waits in them.
void shut_down(const std::set<int>& connections);

[[nodiscard]] bool is_loopback(const std::string& address);

[[nodiscard]] std::string host_name();

}  // namespace stoker::detail
