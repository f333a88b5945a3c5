// A connection between two processes that know the same secret, and prove it to each other before
// anything else is read or sent. What follows is encrypted and authenticated, in order: AES-256-GCM
// with keys of this connection alone, so nothing that was recorded can be sent again.
//
//   caller to listener   "STOKER1\n", 32 random bytes
//   listener to caller   32 random bytes
//   caller to listener   HMAC-SHA256(secret, "caller" + what was sent so far)
//   listener to caller   'y', HMAC-SHA256(secret, "listener" + …); or 'n' and 32 zeros
//   then both ways       length of the text in 4 bytes (lowest first), encrypted text, 16-byte tag
//
// Everything before the proof has a fixed length, so a stranger cannot make the other side take
// memory. One thread at a time; every wait ends at its deadline. Without LibTorch.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stoker::detail {

// The connection is of no use any more.
class ChannelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The listener answered, and refused our proof.
class RefusedError : public ChannelError {
 public:
  using ChannelError::ChannelError;
};

class SecureChannel {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kLongestText = std::size_t{64} << 20;

  // Neither owns the socket, which must not block. They return when both sides have proved
  // themselves, and throw ChannelError otherwise.
  [[nodiscard]] static SecureChannel call(int socket, const std::string& secret, Deadline deadline);
  // `admit` is asked once the caller has proved itself, before it hears that it is accepted.
  [[nodiscard]] static SecureChannel answer(int socket, const std::string& secret,
                                            Deadline deadline,
                                            const std::function<bool()>& admit = {});

  // Both throw ChannelError: at the deadline, at the end of the connection, or where bytes are not
  // what the other side sent.
  void send(std::string_view text, Deadline deadline);
  [[nodiscard]] std::string receive(Deadline deadline);

 private:
  SecureChannel(int socket, std::string sending, std::string receiving);

  int socket_;
  std::string sending_, receiving_;        // keys
  std::uint64_t sent_ = 0, received_ = 0;  // texts; a number is never used twice with one key
};

}  // namespace stoker::detail
