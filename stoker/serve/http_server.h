// HttpServer: HTTP/1.1 over libmicrohttpd. One thread reads and writes all connections, so a client
// that is slow costs memory, never a thread. A request whose body is complete goes to a bounded
// queue; threads of the server take it from there and answer it. A request that finds the queue
// full is refused at once (429).
//
// Everything that a client can make the server hold is bounded: connections, headers (the library's
// memory for a connection), one body, all bodies together, requests that wait, and the time for all
// of a request to arrive.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

struct HttpRequest {
  std::string method, path;
  std::map<std::string, std::string> headers;     // names in lower case
  std::map<std::string, std::string> parameters;  // behind '?'
  std::string body;
  std::chrono::steady_clock::time_point received;  // when its headers were complete

  // Empty where there is none.
  [[nodiscard]] std::string_view header(const std::string& lower_case_name) const;
};

struct HttpResponse {
  unsigned status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

struct HttpOptions {
  std::string address = "127.0.0.1";  // a number, IPv4 or IPv6
  std::uint16_t port = 8000;          // 0: any that is free
  unsigned max_connections = 500;
  unsigned max_connections_per_address = 0;  // 0: any number
  std::size_t max_body = std::size_t{16} << 20;
  std::size_t max_bodies = std::size_t{256} << 20;  // of all requests together
  int threads = 32;                                 // that answer
  std::size_t max_waiting = 128;                    // requests that wait or are being answered
  std::chrono::seconds idle_time{10};               // a connection that says nothing is closed
  std::chrono::seconds request_time{30};            // for all of a request to arrive
};

struct HttpHandlers {
  // Called by the server's own thread when the headers are there: what needs no body and no time,
  // and what is refused. Nothing: the request goes to answer(). Must not wait.
  std::function<std::optional<HttpResponse>(const HttpRequest&)> at_once;
  // Called by one of the threads. What it throws becomes a 500.
  std::function<HttpResponse(const HttpRequest&)> answer;
  // Of every response, also those of the server itself; by any thread. Must not wait.
  std::function<void(const HttpRequest&, unsigned status)> on_response = {};
};

class HttpServer {
 public:
  // Listens at once. Throws Error where it cannot.
  HttpServer(const HttpOptions& options, HttpHandlers handlers);
  ~HttpServer();  // as drain() without time
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  // Requests that wait or are being answered.
  [[nodiscard]] std::size_t waiting() const noexcept;

  // Accepts no more connections, answers the requests that have begun, and returns when they are
  // answered or the time has passed. From one thread.
  void drain(std::chrono::milliseconds time);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// {"error": text}
[[nodiscard]] HttpResponse error_response(unsigned status, const std::string& text);

}  // namespace stoker
