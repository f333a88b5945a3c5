#include "stoker/distributed/detail/secure_channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <poll.h>
#include <sys/socket.h>

#include "stoker/distributed/detail/proof.h"

namespace stoker::detail {
namespace {

using Deadline = SecureChannel::Deadline;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kGreeting = "STOKER1\n";
constexpr std::size_t kNonceBytes = 32, kTagBytes = 16, kLengthBytes = 4;
constexpr char kAccepted = 'y', kRefused = 'n';

// Until the socket can be read or written.
void wait_for(int socket, short events, Deadline deadline) {
  while (true) {
    const std::int64_t left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) throw ChannelError("no answer in time");
    pollfd one{.fd = socket, .events = events, .revents = 0};
    const std::int64_t most = std::numeric_limits<int>::max();
    if (::poll(&one, 1, static_cast<int>(std::min(left, most))) > 0) return;
  }
}

bool may_try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

std::string read_bytes(int socket, std::size_t count, Deadline deadline) {
  std::string bytes(count, '\0');
  for (std::size_t at = 0; at < count;) {
    wait_for(socket, POLLIN, deadline);
    const ssize_t got = ::recv(socket, bytes.data() + at, count - at, 0);
    if (got == 0) throw ChannelError("the other side closed the connection");
    if (got < 0 && !may_try_again()) throw ChannelError(std::strerror(errno));
    if (got > 0) at += static_cast<std::size_t>(got);
  }
  return bytes;
}

void write_bytes(int socket, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    wait_for(socket, POLLOUT, deadline);
    const ssize_t put = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && !may_try_again()) throw ChannelError(std::strerror(errno));
    if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (::RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    throw ChannelError("no random numbers");
  }
  return bytes;
}

std::string length_bytes(std::size_t length) {
  std::string bytes(kLengthBytes, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes[i] = static_cast<char>(length >> (8 * i) & 0xff);
  }
  return bytes;
}

std::size_t length_in(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return length;
}

// AES-256-GCM of one text: the length is authenticated too.
class Cipher {
 public:
  Cipher(const std::string& key, std::uint64_t number, bool encrypts)
      : context_(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free) {
    std::array<unsigned char, 12> nonce{};
    for (std::size_t i = 0; i < sizeof number; ++i) {
      nonce[i] = static_cast<unsigned char>(number >> (8 * i) & 0xff);
    }
    check(EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr,
                            reinterpret_cast<const unsigned char*>(key.data()), nonce.data(),
                            encrypts ? 1 : 0));
  }

  void add_plain(std::string_view text) {
    int length = 0;
    check(EVP_CipherUpdate(context_.get(), nullptr, &length, bytes_of(text), size_of(text)));
  }
  [[nodiscard]] std::string transformed(std::string_view text) {
    std::string out(text.size(), '\0');
    int length = 0;
    check(EVP_CipherUpdate(context_.get(), reinterpret_cast<unsigned char*>(out.data()), &length,
                           bytes_of(text), size_of(text)));
    return out;
  }
  [[nodiscard]] std::string tag() {
    std::string tag(kTagBytes, '\0');
    check(finish());
    check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()));
    return tag;
  }
  [[nodiscard]] bool fits(std::string tag) {
    check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()));
    return finish() == 1;
  }

 private:
  static void check(int done) {
    if (done != 1) throw ChannelError("cannot encrypt");
  }
  static const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  }
  static int size_of(std::string_view text) { return static_cast<int>(text.size()); }
  int finish() {
    std::array<unsigned char, EVP_MAX_BLOCK_LENGTH> rest{};
    int length = 0;
    return EVP_CipherFinal_ex(context_.get(), rest.data(), &length);
  }

  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_;
};

}  // namespace

SecureChannel::SecureChannel(int socket, std::string sending, std::string receiving)
    : socket_(socket), sending_(std::move(sending)), receiving_(std::move(receiving)) {}

SecureChannel SecureChannel::call(int socket, const std::string& secret, Deadline deadline) {
  std::string transcript(kGreeting);
  transcript += random_bytes(kNonceBytes);
  write_bytes(socket, transcript, deadline);
  transcript += read_bytes(socket, kNonceBytes, deadline);
  write_bytes(socket, keyed_digest(secret, "caller", transcript), deadline);
  const std::string answer = read_bytes(socket, 1 + kProofBytes, deadline);
  if (answer[0] == kRefused) throw RefusedError("the proof was refused");
  if (!is_same(answer.substr(1), keyed_digest(secret, "listener", transcript))) {
    throw ChannelError("what answers there does not know the secret");
  }
  return {socket, keyed_digest(secret, "caller's key", transcript),
          keyed_digest(secret, "listener's key", transcript)};
}

SecureChannel SecureChannel::answer(int socket, const std::string& secret, Deadline deadline,
                                    const std::function<bool()>& admit) {
  // First the greeting alone: who speaks another protocol is told nothing, not even random bytes.
  std::string transcript = read_bytes(socket, kGreeting.size(), deadline);
  if (transcript != kGreeting) throw ChannelError("no greeting of a rank");
  transcript += read_bytes(socket, kNonceBytes, deadline);
  const std::string nonce = random_bytes(kNonceBytes);
  write_bytes(socket, nonce, deadline);
  transcript += nonce;
  const std::string proof = read_bytes(socket, kProofBytes, deadline);
  if (!is_same(proof, keyed_digest(secret, "caller", transcript))) {
    write_bytes(socket, kRefused + std::string(kProofBytes, '\0'), deadline);
    throw ChannelError("another secret");
  }
  if (admit && !admit()) throw ChannelError("not admitted, for want of room");
  write_bytes(socket, kAccepted + keyed_digest(secret, "listener", transcript), deadline);
  return {socket, keyed_digest(secret, "listener's key", transcript),
          keyed_digest(secret, "caller's key", transcript)};
}

void SecureChannel::send(std::string_view text, Deadline deadline) {
  if (text.size() > kLongestText) throw ChannelError("too long a text for the other ranks");
  Cipher cipher(sending_, sent_++, true);
  std::string frame = length_bytes(text.size());
  cipher.add_plain(frame);
  frame += cipher.transformed(text);
  frame += cipher.tag();
  write_bytes(socket_, frame, deadline);
}

std::string SecureChannel::receive(Deadline deadline) {
  const std::string header = read_bytes(socket_, kLengthBytes, deadline);
  const std::size_t length = length_in(header);
  if (length > kLongestText) throw ChannelError("damaged: too long a text");
  const std::string body = read_bytes(socket_, length + kTagBytes, deadline);
  Cipher cipher(receiving_, received_++, false);
  cipher.add_plain(header);
  std::string text = cipher.transformed(std::string_view(body).substr(0, length));
  if (!cipher.fits(body.substr(length))) throw ChannelError("damaged: the tag does not fit");
  return text;
}

}  // namespace stoker::detail
