// TestHttpServer: an HTTP server on a free port of the loopback, for one test. It keeps what it was
// asked and answers as the test says, also wrongly: with a body that ends early, or never.
//
// Connections have a thread each; answers are made one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stoker/store/retry.h"
#include "stoker/store/store.h"

namespace stoker {

struct TestRequest {
  std::string method, target;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct TestReply {
  int status = 200;
  std::vector<std::string> headers = {};  // "name: value"
  std::string body = {};
  std::optional<std::size_t> cut_after = {};  // bytes of the body; then the connection ends
  bool hang = false;                          // does not end the connection after the cut
  bool tell_length = true;
  std::string interim = {};  // sent before the status line, as it is
  std::string excess = {};   // sent after the body, when the client has taken that
};

class TestHttpServer {
 public:
  using Answer = std::function<TestReply(const TestRequest&)>;

  explicit TestHttpServer(Answer answer) : answer_(std::move(answer)) {
    ::setenv("no_proxy", "127.0.0.1", 1);  // the one of the developer's machine does not know us
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0 || ::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, generic, &size) != 0) {
      throw std::runtime_error("the test's HTTP server has no port");
    }
    host_ = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
    acceptor_ = std::jthread([this] { accept_all(); });
  }

  // The n-th request gets the n-th reply, later ones the last.
  explicit TestHttpServer(std::vector<TestReply> replies)
      : TestHttpServer(
            [replies = std::move(replies), next = std::size_t{0}](const TestRequest&) mutable {
              return replies[std::min(next++, replies.size() - 1)];
            }) {}

  ~TestHttpServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (Connection& connection : connections_) {
      ::shutdown(connection.socket, SHUT_RDWR);
      connection.thread.join();
      ::close(connection.socket);
    }
    ::close(listener_);
  }
  TestHttpServer(const TestHttpServer&) = delete;
  TestHttpServer& operator=(const TestHttpServer&) = delete;

  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] std::string url() const { return "http://" + host_; }
  [[nodiscard]] std::vector<TestRequest> requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
  }
  [[nodiscard]] std::size_t connections() const {
    const std::scoped_lock lock(mutex_);
    return connections_.size();
  }

 private:
  // Sockets are closed by the destructor alone: no other thread can meet a number used again.
  struct Connection {
    int socket;
    std::jthread thread;
  };

  void accept_all() {
    while (true) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const std::scoped_lock lock(mutex_);
      connections_.push_back({socket, std::jthread([this, socket] { serve(socket); })});
    }
  }

  void serve(int socket) {
    std::string received;
    while (const auto request = next_request(socket, received)) {
      TestReply reply;
      {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(*request);
        reply = answer_(*request);
      }
      send_all(socket, text_of(reply, request->method != "HEAD"));
      if (!reply.excess.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        send_all(socket, reply.excess);
      }
      if (reply.hang) {
        receive(socket, received);  // until the client leaves
        return;
      }
      if (reply.cut_after || !reply.tell_length) break;
    }
    ::shutdown(socket, SHUT_RDWR);
  }

  static std::string text_of(const TestReply& reply, bool with_body) {
    std::string text = fmt::format("{}HTTP/1.1 {} Text\r\n", reply.interim, reply.status);
    for (const std::string& header : reply.headers) text += header + "\r\n";
    if (reply.tell_length) text += fmt::format("Content-Length: {}\r\n", reply.body.size());
    text += "\r\n";
    if (with_body) text += reply.body.substr(0, reply.cut_after.value_or(std::string::npos));
    return text;
  }

  static void send_all(int socket, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // False where the connection has ended.
  static bool receive(int socket, std::string& received) {
    std::array<char, 65536> piece{};
    const ssize_t size = ::recv(socket, piece.data(), piece.size(), 0);
    if (size <= 0) return false;
    received.append(piece.data(), static_cast<std::size_t>(size));
    return true;
  }

  static std::optional<TestRequest> next_request(int socket, std::string& received) {
    std::size_t end = 0;
    while ((end = received.find("\r\n\r\n")) == std::string::npos) {
      if (!receive(socket, received)) return std::nullopt;
    }
    TestRequest request = parsed(std::string_view(received).substr(0, end + 2));
    received.erase(0, end + 4);
    const std::string length = request.header("content-length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (received.size() < size) {
      if (!receive(socket, received)) return std::nullopt;
    }
    request.body = received.substr(0, size);
    received.erase(0, size);
    return request;
  }

  static TestRequest parsed(std::string_view head) {
    TestRequest request;
    const std::size_t first = head.find(' ');
    request.method = head.substr(0, first);
    request.target = head.substr(first + 1, head.find(' ', first + 1) - first - 1);
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const std::size_t end = head.find("\r\n", at);
      const std::string_view line = head.substr(at, end - at);
      at = end + 2;
      const std::size_t colon = line.find(':');
      std::string name(line.substr(0, colon));
      std::ranges::transform(name, name.begin(), [](unsigned char letter) {
        return static_cast<char>(std::tolower(letter));
      });
      std::string_view value = line.substr(colon + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      request.headers[name] = value;
    }
    return request;
  }

  Answer answer_;
  int listener_ = -1;
  std::string host_;
  mutable std::mutex mutex_;
  std::vector<TestRequest> requests_;
  std::list<Connection> connections_;
  std::jthread acceptor_;
};

// The n-th try comes a few milliseconds after the one before it.
inline RetryOptions quick_retries(int tries = 3) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return {.tries = tries,
          .first_wait = milliseconds(1),
          .longest_wait = milliseconds(5),
          .connect = seconds(10),
          .stall = seconds(10)};
}

// The bytes that a read delivers.
inline std::string read_all(const Store& store, const ReadRequest& request) {
  std::string text;
  store.read(request, [&](std::span<const std::byte> bytes) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return text;
}

}  // namespace stoker
