// A real server on the loopback, and clients that write what they like.
#include "stoker/serve/http_server.h"

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stoker/core/test_files.h"
#include "stoker/serve/classify_service.h"

namespace stoker {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  // False where the server has closed the connection.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Until the server closes the connection.
  [[nodiscard]] std::string all() {
    std::string text;
    char piece[4096];
    for (ssize_t got = 0; (got = ::recv(socket_, piece, sizeof(piece), 0)) > 0;) {
      text.append(piece, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int socket_;
  bool connected_ = false;
};

std::string post(std::string_view body, std::string_view more = "Connection: close\r\n") {
  return fmt::format("POST /echo HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{}", more,
                     body.size(), body);
}

std::string asked(std::uint16_t port, std::string_view request) {
  RawClient client(port);
  client.send(request);
  return client.all();
}

// Gives the body back; /now answers at once, /fail throws. While held, nothing is answered.
struct EchoServer {
  explicit EchoServer(HttpOptions options = {}) {
    options.port = 0;
    server = std::make_unique<HttpServer>(
        options,
        HttpHandlers{.at_once = [](const HttpRequest& request) -> std::optional<HttpResponse> {
                       if (request.path == "/now") return HttpResponse{.body = "now"};
                       return std::nullopt;
                     },
                     .answer = [this](const HttpRequest& request) -> HttpResponse {
                       ++begun;
                       while (held.load()) std::this_thread::sleep_for(1ms);
                       if (request.path == "/fail") throw std::runtime_error("broken on purpose");
                       return {.body = request.body, .headers = {{"X-Echo", "yes"}}};
                     },
                     .on_response = [this](const HttpRequest&, unsigned) { ++responses; }});
  }
  std::atomic<bool> held{false};
  std::atomic<int> begun{0}, responses{0};
  std::unique_ptr<HttpServer> server;
};

TEST(HttpServer, AnswersWithTheBody) {
  EchoServer echo;
  const std::string answer = asked(echo.server->port(), post("hello"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("X-Echo: yes\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\nhello"));
  EXPECT_THAT(asked(echo.server->port(), "GET /now HTTP/1.0\r\n\r\n"), testing::EndsWith("now"));
  EXPECT_EQ(echo.responses.load(), 2);
}

TEST(HttpServer, AnswersRequestsThatFollowEachOther) {
  EchoServer echo;
  const std::string answer =
      asked(echo.server->port(), post("first", "") + post("second", "") + post("third"));
  const std::size_t first = answer.find("first"), second = answer.find("second");
  EXPECT_LT(first, second);
  EXPECT_LT(second, answer.find("third"));
  EXPECT_NE(answer.find("third"), std::string::npos);
}

TEST(HttpServer, TurnsAnExceptionInto500) {
  EchoServer echo;
  const std::string answer =
      asked(echo.server->port(), "GET /fail HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(answer, HasSubstr("broken on purpose"));
}

TEST(HttpServer, RefusesWhatIsTooLarge) {
  EchoServer echo({.max_body = 1000, .max_bodies = 1500});
  EXPECT_THAT(asked(echo.server->port(), post(std::string(1001, 'x'))), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(asked(echo.server->port(),
                    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  std::string chunked =
      "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 12; ++i) chunked += "64\r\n" + std::string(100, 'x') + "\r\n";
  EXPECT_THAT(asked(echo.server->port(), chunked + "0\r\n\r\n"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(asked(echo.server->port(), post(std::string(1000, 'x'))), StartsWith("HTTP/1.1 200"));
  // Headers: one that is long, and many.
  const std::string get = "GET /now HTTP/1.1\r\nHost: x\r\n";
  EXPECT_THAT(asked(echo.server->port(), get + "X: " + std::string(100'000, 'x') + "\r\n\r\n"),
              testing::Not(HasSubstr(" 200 ")));
  std::string many = get;
  for (int i = 0; i < 10'000; ++i) many += fmt::format("X-{}: y\r\n", i);
  EXPECT_THAT(asked(echo.server->port(), many + "\r\n"), testing::Not(HasSubstr(" 200 ")));
  EXPECT_THAT(
      asked(echo.server->port(), post("x", "Connection: close\r\nContent-Encoding: gzip\r\n")),
      StartsWith("HTTP/1.1 415"));
  EXPECT_THAT(asked(echo.server->port(), "nonsense\r\n\r\n"), testing::Not(HasSubstr(" 200 ")));
  EXPECT_THAT(asked(echo.server->port(), post("still here")), HasSubstr("still here"));
}

TEST(HttpServer, RefusesAtOnceWhenTooManyWait) {
  EchoServer echo({.threads = 2, .max_waiting = 3});
  echo.held = true;
  std::vector<std::jthread> threads;
  std::atomic<int> answered{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      if (asked(echo.server->port(), post("waits")).ends_with("waits")) ++answered;
    });
  }
  while (echo.server->waiting() < 3) std::this_thread::sleep_for(1ms);
  const std::string refused = asked(echo.server->port(), post("one too many"));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(refused, HasSubstr("Retry-After: 1\r\n"));
  // What takes no time is answered all the same.
  EXPECT_THAT(asked(echo.server->port(), "GET /now HTTP/1.0\r\n\r\n"), HasSubstr("now"));
  echo.held = false;
  threads.clear();
  EXPECT_EQ(answered.load(), 3);
}

TEST(HttpServer, SlowClientsHoldUpNobodyAndAreClosed) {
  EchoServer echo({.threads = 1, .idle_time = 30s, .request_time = 1s});
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<RawClient>(echo.server->port()));
    const bool in_body = i % 2 == 0;
    slow.back()->send(in_body ? "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx"
                              : "GET /now HTT");
  }
  EXPECT_THAT(asked(echo.server->port(), post("quick")), HasSubstr("quick"));
  // They go on sending, a byte at a time.
  const auto end = std::chrono::steady_clock::now() + 10s;
  std::size_t open = slow.size();
  while (open > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(100ms);
    open = 0;
    for (const auto& client : slow) open += client->send("x") ? 1 : 0;
  }
  EXPECT_EQ(open, 0U);
  EXPECT_THAT(asked(echo.server->port(), post("quick")), HasSubstr("quick"));
}

TEST(HttpServer, DrainingAnswersWhatHasBegun) {
  EchoServer echo({.threads = 4});
  const std::uint16_t port = echo.server->port();
  echo.held = true;
  std::atomic<int> answered{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      const std::string answer = asked(port, post("accepted"));
      if (answer.starts_with("HTTP/1.1 200") && answer.ends_with("accepted")) ++answered;
    });
  }
  while (echo.server->waiting() < 10) std::this_thread::sleep_for(1ms);
  threads.emplace_back([&] {
    std::this_thread::sleep_for(300ms);
    echo.held = false;
  });
  echo.server->drain(20s);
  EXPECT_FALSE(RawClient(port).connected());
  threads.clear();
  EXPECT_EQ(answered.load(), 10);
}

TEST(HttpServer, EndsAtOnceWithoutDraining) {
  auto echo = std::make_unique<EchoServer>();
  RawClient idle(echo->server->port()), half(echo->server->port());
  half.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx");
  EXPECT_THAT(asked(echo->server->port(), post("x")), HasSubstr("200"));
  echo.reset();
  EXPECT_EQ(idle.all(), "");
}

TEST(HttpServer, SaysWhyItCannotListen) {
  EchoServer echo;
  const auto listen = [](const HttpOptions& options) {
    const HttpServer server(options, {.at_once = {}, .answer = {}});
  };
  EXPECT_THROW(listen({.address = "localhost"}), Error);
  EXPECT_THROW(listen({.port = echo.server->port(), .threads = 1}), Error);
}

TEST(ReadToken, IsTheFirstLineOfAFileThatOthersMayNotRead) {
  using std::filesystem::perms;
  const TempFolder folder;
  const auto put = [&](const std::string& text, perms mode) {
    const auto path = folder.write("token", Bytes(text.begin(), text.end()));
    std::filesystem::permissions(path, mode);
    return path.string();
  };
  const std::string token = "0123456789abcdef";
  constexpr perms kOwn = perms::owner_read | perms::owner_write;
  EXPECT_EQ(read_token(put(token + " \r\nmore\n", kOwn)), token);
  EXPECT_THAT(message_of([&] { static_cast<void>(read_token(put("short\n", kOwn))); }),
              HasSubstr("at least 16 characters, got 5"));
  EXPECT_THAT(
      message_of([&] { static_cast<void>(read_token(put(token, kOwn | perms::others_read))); }),
      HasSubstr("everybody may read the token"));
  EXPECT_THAT(message_of([&] { static_cast<void>(read_token("/none")); }),
              HasSubstr("cannot read the token: /none"));
}

}  // namespace
}  // namespace stoker
