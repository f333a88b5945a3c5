// One HTTP exchange at a time through libcurl, with connections that are kept for the next one.
// Redirects are not followed here, certificates are checked, and only http and https are spoken.
//
// Any thread may call perform(); each call takes a handle of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/store/retry.h"
#include "stoker/store/store.h"

namespace stoker {

struct HttpReply {
  long status = 0;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string redirect = {};                        // where to, absolute
  std::string error_code = {};                      // S3's <Code>, of letters alone
  // Nothing where the header is missing or no number.
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& header) const;
  [[nodiscard]] std::string header(const std::string& name) const;
};

struct HttpRequest {
  std::string method = "GET";  // GET, HEAD, PUT, POST
  std::string url;
  std::vector<std::string> headers = {};           // "name: value"
  std::filesystem::path body = {};                 // of a PUT
  std::optional<std::string> content = {};         // of a PUT or POST, instead of a file
  bool direct = false;                             // never through a proxy
  std::optional<std::chrono::seconds> whole = {};  // the reply has to be complete within
  std::stop_token stop = {};
};

class HttpClient {
 public:
  explicit HttpClient(const RetryOptions& limits);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Called once with status and headers, before the first byte of a 2xx body.
  using OnHead = std::function<void(const HttpReply&)>;

  // Gives the body of a 2xx reply to the sink; other bodies are dropped. Throws AttemptFailed where
  // there was no whole reply; what on_head and sink throw passes through.
  HttpReply perform(const HttpRequest& request, const OnHead& on_head, const ByteSink& sink) const;
  // No later exchange uses a connection of those before, also of those under way. Called where an
  // exchange failed, and by whoever finds a reply to be wrong: what follows on its connection may
  // be the rest of it.
  void forget_connections() const;

 private:
  struct Handle;
  [[nodiscard]] std::unique_ptr<Handle> take() const;
  void keep(std::unique_ptr<Handle> handle) const;

  RetryOptions limits_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Handle>> idle_;
  mutable std::uint64_t forgotten_ = 0;  // times
};

}  // namespace stoker
