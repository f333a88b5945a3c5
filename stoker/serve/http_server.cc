#include "stoker/serve/http_server.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stoker/core/error.h"
#include "stoker/serve/http_library.h"

namespace stoker {
namespace {

using Clock = std::chrono::steady_clock;

// A request from its headers to its response. Belongs to the server's thread, but for the time in
// which its connection is suspended: then to the thread that answers.
struct Exchange {
  HttpRequest request;
  std::optional<HttpResponse> response;
  MHD_Connection* connection = nullptr;
  std::size_t body_bytes = 0;  // counted in the sum over all bodies
};

struct SocketAddress {
  sockaddr_storage storage{};
  bool is_v6 = false;
};

SocketAddress parse_address(const std::string& text, std::uint16_t port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.is_v6 = true;
    return address;
  }
  throw OptionError({.what = "cannot listen at this address",
                     .expected = "an IP address, such as 127.0.0.1 or ::1",
                     .found = fmt::format("\"{}\"", text)});
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

MHD_Result add_header(void* headers, MHD_ValueKind, const char* name, const char* value) {
  auto& map = *static_cast<std::map<std::string, std::string>*>(headers);
  map.emplace(lower(name), value == nullptr ? "" : value);
  return MHD_YES;
}

MHD_Result add_parameter(void* parameters, MHD_ValueKind, const char* name, const char* value) {
  auto& map = *static_cast<std::map<std::string, std::string>*>(parameters);
  map.emplace(name, value == nullptr ? "" : value);
  return MHD_YES;
}

void ignore_messages(void*, const char*, va_list) {}  // libraries do not print

}  // namespace

std::string_view HttpRequest::header(const std::string& lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? std::string_view() : found->second;
}

HttpResponse error_response(unsigned status, const std::string& text) {
  // A message may quote bytes of a file that are no UTF-8.
  const nlohmann::json json = {{"error", text}};
  return {.status = status,
          .body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

class HttpServer::Impl {
 public:
  Impl(const HttpOptions& options, HttpHandlers handlers)
      : options_(options), handlers_(std::move(handlers)), library_(http_library()) {
    start_daemon();
    try {
      for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { answer_all(); });
      watcher_ = std::thread([this] { close_slow_connections(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Impl() {
    drain(std::chrono::milliseconds(0));
    stop();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept {
    const MHD_DaemonInfo* info = library_.get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
    return info == nullptr ? options_.port : info->port;
  }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load(); }

  void drain(std::chrono::milliseconds time) {
    const auto end = Clock::now() + time;
    stop_listening();
    // A client that has just connected, or was just answered, may be sending its request.
    constexpr auto kQuiet = std::chrono::milliseconds(200);
    auto quiet_since = Clock::now();
    while (Clock::now() < end) {
      if (active_.load() > 0) quiet_since = Clock::now();
      if (Clock::now() - quiet_since >= kQuiet) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  struct Connection {
    MHD_socket socket = -1;
    std::optional<Clock::time_point> waits_since;  // for the headers of a request
  };

  void start_daemon() {
    const SocketAddress address = parse_address(options_.address, options_.port);
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    if (address.is_v6) flags |= MHD_USE_IPv6;
    constexpr std::size_t kHeaderBytes = 32 << 10;
    daemon_ = library_.start_daemon(
        flags, options_.port, nullptr, nullptr, &on_request, this, MHD_OPTION_EXTERNAL_LOGGER,
        &ignore_messages, nullptr, MHD_OPTION_SOCK_ADDR, &address.storage,
        MHD_OPTION_CONNECTION_LIMIT, options_.max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        options_.max_connections_per_address, MHD_OPTION_CONNECTION_TIMEOUT,
        static_cast<unsigned>(options_.idle_time.count()), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        kHeaderBytes, MHD_OPTION_NOTIFY_COMPLETED, &on_completed, this,
        MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this, MHD_OPTION_END);
    if (daemon_ != nullptr) return;
    throw Error(
        {.what = "cannot listen",
         .expected = fmt::format("port {} of {} to be free", options_.port, options_.address),
         .found = std::strerror(errno),
         .hint = "Choose another `port`; 0 takes any that is free"});
  }

  // ---- The server's own thread ----

  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url,
                               const char* method, const char*, const char* data, std::size_t* size,
                               void** context) noexcept {
    auto& server = *static_cast<Impl*>(self);
    try {
      if (*context == nullptr) {
        Exchange* begun = server.begin(connection, url, method);
        *context = begun;
        // Nobody waits for the end of a body that is too large; the connection is closed.
        const bool too_large = begun->response && begun->response->status == 413;
        return too_large ? server.send(*begun) : MHD_YES;
      }
      auto& exchange = *static_cast<Exchange*>(*context);
      if (*size > 0) {
        const bool goes_on = server.add_to_body(exchange, {data, *size});
        *size = 0;
        return goes_on ? MHD_YES : MHD_NO;
      }
      return server.end(exchange);
    } catch (...) {
      return MHD_NO;  // no memory: the connection is closed
    }
  }

  [[nodiscard]] Exchange* begin(MHD_Connection* connection, const char* url, const char* method) {
    auto exchange = std::make_unique<Exchange>();
    exchange->connection = connection;
    HttpRequest& request = exchange->request;
    request.method = method;
    request.path = url;
    request.received = Clock::now();
    library_.get_connection_values(connection, MHD_HEADER_KIND, &add_header, &request.headers);
    library_.get_connection_values(connection, MHD_GET_ARGUMENT_KIND, &add_parameter,
                                   &request.parameters);
    set_waiting(connection, false);
    exchange->response = handlers_.at_once(request);
    if (!exchange->response) check_body(*exchange);
    ++active_;
    return exchange.release();
  }

  // What the headers say of it.
  void check_body(Exchange& exchange) const {
    const std::string_view length = exchange.request.header("content-length");
    // Longer numbers than any body has; the library has checked that it is a number.
    if (length.size() > 18 ||
        (!length.empty() && std::stoull(std::string(length)) > options_.max_body)) {
      exchange.response = too_large();
    }
    const std::string_view encoding = exchange.request.header("content-encoding");
    if (!encoding.empty() && encoding != "identity") {
      exchange.response = error_response(415, "the body must not be compressed");
    }
  }
  [[nodiscard]] HttpResponse too_large() const {
    return error_response(413, fmt::format("the body is larger than {} bytes", options_.max_body));
  }

  // False: the connection is closed. What is refused is read to its end, so that the client hears
  // why, unless that takes long.
  [[nodiscard]] bool add_to_body(Exchange& exchange, std::string_view data) {
    const bool in_time = Clock::now() - exchange.request.received < options_.request_time;
    exchange.body_bytes += data.size();
    if (!in_time || exchange.body_bytes > 2 * options_.max_body) return false;
    if (exchange.response) return true;
    std::string& body = exchange.request.body;
    if (body.size() + data.size() > options_.max_body) {
      exchange.response = too_large();
    } else if (bodies_ + data.size() > options_.max_bodies) {
      exchange.response = overloaded();
    } else {
      bodies_ += data.size();
      body += data;
      return true;
    }
    release_body(exchange);
    return true;
  }
  static HttpResponse overloaded() {
    HttpResponse response = error_response(429, "too many requests are waiting");
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }
  void release_body(Exchange& exchange) noexcept {
    bodies_ -= exchange.request.body.size();
    exchange.request.body = {};
  }

  // The request is complete, or it has been answered.
  [[nodiscard]] MHD_Result end(Exchange& exchange) {
    if (!exchange.response && waiting_.load() >= options_.max_waiting) {
      exchange.response = overloaded();
    }
    if (!exchange.response && !queue_for_answer(exchange)) {
      exchange.response = error_response(503, "the server is being ended");
    }
    return exchange.response ? send(exchange) : MHD_YES;
  }

  // False where there are no threads any more. No connection may be suspended then: the library
  // could not end.
  [[nodiscard]] bool queue_for_answer(Exchange& exchange) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return false;
    queue_.push_back(&exchange);
    ++waiting_;
    library_.suspend_connection(exchange.connection);
    news_.notify_one();
    return true;
  }

  [[nodiscard]] MHD_Result send(Exchange& exchange) {
    HttpResponse& answer = *exchange.response;
    if (handlers_.on_response) handlers_.on_response(exchange.request, answer.status);
    MHD_Response* response = library_.create_response_from_buffer(
        answer.body.size(), answer.body.data(), MHD_RESPMEM_MUST_COPY);
    if (response == nullptr) return MHD_NO;
    library_.add_response_header(response, "Content-Type", answer.type.c_str());
    for (const auto& [name, value] : answer.headers) {
      library_.add_response_header(response, name.c_str(), value.c_str());
    }
    if (draining_.load()) library_.add_response_header(response, "Connection", "close");
    const MHD_Result queued = library_.queue_response(exchange.connection, answer.status, response);
    library_.destroy_response(response);
    return queued;
  }

  static void on_completed(void* self, MHD_Connection* connection, void** context,
                           MHD_RequestTerminationCode) noexcept {
    auto& server = *static_cast<Impl*>(self);
    const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(*context));
    *context = nullptr;
    if (!exchange) return;
    server.release_body(*exchange);
    server.set_waiting(connection, true);
    --server.active_;
  }

  static void on_connection(void* self, MHD_Connection* connection, void**,
                            MHD_ConnectionNotificationCode code) noexcept {
    auto& server = *static_cast<Impl*>(self);
    const std::lock_guard lock(server.connections_mutex_);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      server.connections_.erase(connection);
      return;
    }
    const MHD_ConnectionInfo* info =
        server.library_.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) return;
    server.connections_[connection] = {.socket = info->connect_fd, .waits_since = Clock::now()};
  }

  void set_waiting(MHD_Connection* connection, bool waits) noexcept {
    const std::lock_guard lock(connections_mutex_);
    const auto found = connections_.find(connection);
    if (found == connections_.end()) return;
    found->second.waits_since = waits ? std::optional(Clock::now()) : std::nullopt;
  }

  // ---- The threads that answer ----

  void answer_all() {
    pthread_setname_np(pthread_self(), "answer");
    for (;;) {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
      if (queue_.empty()) return;
      Exchange& exchange = *queue_.front();
      queue_.pop_front();
      lock.unlock();
      exchange.response = answered(exchange.request);
      MHD_Connection* connection = exchange.connection;
      --waiting_;
      library_.resume_connection(connection);  // from here on it is the server's thread's
    }
  }

  [[nodiscard]] HttpResponse answered(const HttpRequest& request) const {
    try {
      return handlers_.answer(request);
    } catch (const std::exception& error) {
      return error_response(500, error.what());
    } catch (...) {
      return error_response(500, "an unknown exception");
    }
  }

  // ---- Others ----

  // The library's time is that between two bytes. A client that sends its headers one byte at a
  // time would hold its connection for ever.
  void close_slow_connections() {
    pthread_setname_np(pthread_self(), "slow-clients");
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, std::chrono::milliseconds(500), [this] { return stopped_; })) {
      const std::lock_guard connections_lock(connections_mutex_);
      for (auto& [connection, state] : connections_) {
        if (!state.waits_since || Clock::now() - *state.waits_since < options_.request_time)
          continue;
        ::shutdown(state.socket, SHUT_RDWR);  // still open: its end is reported under the same lock
        state.waits_since.reset();
      }
    }
  }

  // Connections that the kernel has accepted already are taken over.
  void stop_listening() {
    if (draining_.exchange(true)) return;
    const MHD_socket listener = library_.quiesce_daemon(daemon_);
    if (listener == MHD_INVALID_SOCKET) return;
    ::fcntl(listener, F_SETFL, ::fcntl(listener, F_GETFL) | O_NONBLOCK);
    for (;;) {
      sockaddr_storage peer{};
      socklen_t length = sizeof(peer);
      const int socket =
          ::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length, SOCK_CLOEXEC);
      if (socket < 0) break;
      library_.add_connection(daemon_, socket, reinterpret_cast<sockaddr*>(&peer), length);
    }
    ::close(listener);
  }

  // Requests in the queue are answered: nothing may be suspended when the daemon ends.
  void stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      news_.notify_all();
      ended_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (watcher_.joinable()) watcher_.join();
    if (daemon_ != nullptr) library_.stop_daemon(daemon_);
    daemon_ = nullptr;
  }

  const HttpOptions options_;
  const HttpHandlers handlers_;
  const HttpLibrary& library_;
  MHD_Daemon* daemon_ = nullptr;
  std::size_t bodies_ = 0;  // bytes of all; of the server's thread
  std::atomic<std::size_t> active_{0}, waiting_{0};
  std::atomic<bool> draining_{false};
  std::mutex mutex_;
  std::condition_variable news_, ended_;
  std::deque<Exchange*> queue_;
  bool stopped_ = false;
  std::mutex connections_mutex_;
  std::map<MHD_Connection*, Connection> connections_;
  std::vector<std::thread> threads_;
  std::thread watcher_;
};

HttpServer::HttpServer(const HttpOptions& options, HttpHandlers handlers)
    : impl_(std::make_unique<Impl>(options, std::move(handlers))) {}
HttpServer::~HttpServer() = default;
std::uint16_t HttpServer::port() const noexcept { return impl_->port(); }
std::size_t HttpServer::waiting() const noexcept { return impl_->waiting(); }
void HttpServer::drain(std::chrono::milliseconds time) { impl_->drain(time); }

}  // namespace stoker
