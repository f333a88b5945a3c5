// libFuzzer target: no bytes of a stranger open the connection to rank 0's store, and any request
// of a rank is refused or reads back to the same.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

#include "stoker/distributed/detail/key_table.h"
#include "stoker/distributed/detail/secure_channel.h"

namespace {

using stoker::detail::SecureChannel;

void check_gate(const std::string& bytes) {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets.data()) != 0) return;
  static_cast<void>(::send(sockets[0], bytes.data(), bytes.size(), MSG_NOSIGNAL));
  ::shutdown(sockets[0], SHUT_WR);
  try {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    static_cast<void>(SecureChannel::answer(sockets[1], std::string(32, 's'), deadline));
    std::abort();
  } catch (const stoker::detail::ChannelError&) {
  }
  for (const int socket : sockets) ::close(socket);
}

void check_request(const std::string& bytes) {
  const auto request = stoker::detail::parse_request(bytes);
  if (!request) return;
  if (!(stoker::detail::parse_request(stoker::detail::bytes_of(*request)) == request)) std::abort();
  stoker::detail::KeyTable keys;
  keys.close();  // no wait takes time
  static_cast<void>(keys.answer(*request));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_gate(bytes);
  check_gate("STOKER1\n" + bytes);
  check_request(bytes);
  if (const auto reply = stoker::detail::parse_reply(bytes)) {
    if (stoker::detail::bytes_of(*reply) != bytes) std::abort();
  }
  return 0;
}
