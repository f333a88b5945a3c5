#include "stoker/distributed/detail/network.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stoker/core/error.h"

namespace stoker::detail {

Descriptor::~Descriptor() {
  if (number >= 0) ::close(number);
}

int Descriptor::take() { return std::exchange(number, -1); }

namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& host, std::uint16_t port, int type) {
  addrinfo hints{};
  hints.ai_socktype = type;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    throw Error({.what = "cannot find the machine where the ranks meet",
                 .expected = fmt::format("an address for \"{}\"", host),
                 .found = ::gai_strerror(error),
                 .hint = "Give `master_addr` as a name that all machines know, or as an address"});
  }
  return {found, &::freeaddrinfo};
}

std::string text_of(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  const int error =
      ::getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text.data() : "";
}

std::uint16_t port_of(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET
                   ? reinterpret_cast<const sockaddr_in&>(address).sin_port
                   : reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
}

// 0, or the number of the error.
int connect_within(int socket, const addrinfo& address,
                   std::chrono::steady_clock::time_point deadline) {
  if (::connect(socket, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd one{.fd = socket, .events = POLLOUT, .revents = 0};
  const int ready = ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
  if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

// Whether a connection ends where it begins.
bool is_own_end(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_length = sizeof own, peer_length = sizeof peer;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_length);
  ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_length);
  return port_of(own) == port_of(peer) &&
         text_of(reinterpret_cast<const sockaddr*>(&own), own_length) ==
             text_of(reinterpret_cast<const sockaddr*>(&peer), peer_length);
}

}  // namespace

std::string address_towards(const std::string& host, std::uint16_t port) {
  const Addresses addresses = resolve(host, port, SOCK_DGRAM);
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    const Descriptor probe(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (probe.number < 0 || ::connect(probe.number, one->ai_addr, one->ai_addrlen) != 0) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    if (::getsockname(probe.number, reinterpret_cast<sockaddr*>(&own), &length) != 0) continue;
    return text_of(reinterpret_cast<const sockaddr*>(&own), length);
  }
  throw Error({.what = "no way leads to the machine where the ranks meet",
               .expected = fmt::format("a route to {}", host),
               .found = std::strerror(errno)});
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    throw Error({.what = "cannot list the network interfaces", .found = std::strerror(errno)});
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::string best;
  std::vector<std::string> names;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family == AF_INET) names.emplace_back(one->ifa_name);
    if (name != one->ifa_name || (family != AF_INET && family != AF_INET6)) continue;
    const bool v4 = family == AF_INET;
    if (best.empty() || v4) {
      best = text_of(one->ifa_addr, v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    }
    if (v4) break;
  }
  if (!best.empty()) return best;
  throw Error({.what = "unknown network interface, or one without an address",
               .expected = fmt::format("one of {}", fmt::join(names, ", ")),
               .found = fmt::format("\"{}\"", name)});
}

int listen_at(const std::string& address, std::uint16_t port) {
  const Addresses addresses = resolve(address, port, SOCK_STREAM);
  int error = 0;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    Descriptor listener(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    if (listener.number >= 0 &&
        ::setsockopt(listener.number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(listener.number, one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(listener.number, SOMAXCONN) == 0) {
      return listener.take();
    }
    error = errno;
  }
  throw Error({.what = "rank 0 cannot listen where the ranks are to meet",
               .expected = fmt::format("{}:{} to be an address of this machine, with the port free",
                                       address, port),
               .found = std::strerror(error),
               .hint = "Choose another `master_port`, or the `master_addr` of this machine"});
}

int accept_at(int listener, std::string& from) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  const int socket = ::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length,
                               SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket >= 0) from = text_of(reinterpret_cast<const sockaddr*>(&peer), length);
  return socket;
}

int connect_to(const std::string& host, std::uint16_t port,
               std::chrono::steady_clock::time_point deadline) {
  const Addresses addresses = resolve(host, port, SOCK_STREAM);
  int error = 0, untried = 0;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) ++untried;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next, --untried) {
    // An address that never answers must leave time for those after it.
    const auto now = std::chrono::steady_clock::now();
    const auto until =
        now + std::max(deadline - now, std::chrono::steady_clock::duration::zero()) / untried;
    Descriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    // On one machine a try may be given the very port that it calls, while rank 0 does not listen
    // yet, and so reach itself. It must not keep rank 0 from that port.
    error = socket.number < 0 ? errno : 0;
    const int yes = 1;
    ::setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (error == 0) error = connect_within(socket.number, *one, until);
    if (error == 0 && is_own_end(socket.number)) error = ECONNREFUSED;
    if (error == 0) return socket.take();
  }
  throw Error({.what = "nobody answers where the ranks meet",
               .expected = fmt::format("rank 0 at {}:{}", host, port),
               .found = std::strerror(error)});
}

std::set<int> tcp_connections(std::uint16_t except_port) {
  std::set<int> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int number = std::atoi(entry.path().filename().c_str());
    sockaddr_storage own{}, peer{};
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    // A listener has no peer, and must not be shut down: gloo's would end the process.
    if (::getpeername(number, reinterpret_cast<sockaddr*>(&peer), &peer_length) != 0) continue;
    if (::getsockname(number, reinterpret_cast<sockaddr*>(&own), &own_length) != 0) continue;
    if (own.ss_family != AF_INET && own.ss_family != AF_INET6) continue;
    if (port_of(own) != except_port && port_of(peer) != except_port) found.insert(number);
  }
  return found;
}

void shut_down(const std::set<int>& connections) {
  for (const int number : connections) ::shutdown(number, SHUT_RDWR);
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace stoker::detail
