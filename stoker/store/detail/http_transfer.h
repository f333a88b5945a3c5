// HttpTransfer: what HttpStore and S3Store share. One exchange follows redirects; a read that was
// cut off resumes with a range request, as long as the object is the same; 408, 429, 5xx and
// whatever a network does are tried again (retry.h).
//
// Any thread may call any member.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "stoker/store/http_client.h"
#include "stoker/store/retry.h"
#include "stoker/store/store.h"
#include "stoker/store/url.h"

namespace stoker::detail {

struct HttpCall {
  std::string method = "GET";
  std::string path;  // on the server, encoded
  std::string query = {};
  std::vector<std::string> headers = {};
  std::string payload_hash = {};  // of a PUT that is signed
  std::filesystem::path body = {};
  std::stop_token stop = {};
};

// The headers that sign a call. After a redirect `host` and `target` (path and query as they are
// sent) are no longer those of the call.
using Sign = std::function<std::vector<std::string>(const HttpCall& call, const std::string& host,
                                                    const std::string& target)>;

// Refused by default: who redirects must not decide which host this machine asks. kRefuseSigned:
// nor which host gets a signed request, whatever the user allows.
enum class OtherHosts { kFollow, kRefuse, kRefuseSigned };

struct HttpServer {
  Url url;  // its path is not used: a call has the whole one
  OtherHosts other_hosts = OtherHosts::kRefuse;
  Sign sign = {};          // empty: calls are not signed
  std::string query = {};  // of every call that has none
};

struct HttpObject {
  std::string path;   // on the server, encoded
  std::string shown;  // in messages
};

struct RedirectTarget {
  Url server;
  std::string target;  // path and query
};

// Where a redirect to `location`, which is absolute, leads. Throws AttemptFailed where it is not
// followed: to another host where these are refused, and always from https to http.
[[nodiscard]] RedirectTarget redirect_target(const Url& from, const std::string& location,
                                             OtherHosts other_hosts);

// Throws AttemptFailed unless the status is 2xx.
void check_status(const HttpReply& reply);

class HttpTransfer {
 public:
  HttpTransfer(HttpServer server, const RetryOptions& retry);

  // One attempt, whatever the status of its reply.
  HttpReply perform(const HttpCall& call, const HttpClient::OnHead& on_head,
                    const ByteSink& sink) const;
  // Both as those of Store, with retries.
  [[nodiscard]] std::optional<ObjectFacts> look(const HttpObject& object) const;
  void read(const HttpObject& object, const ReadRequest& request, const ByteSink& sink) const;

 private:
  struct Reading;  // what one read() has done so far
  void read_more(const std::string& path, const ReadRequest& request, Reading& reading,
                 const ByteSink& sink) const;

  HttpServer server_;
  RetryOptions retry_;
  HttpClient client_;
};

// For exchanges whose head or body is of no interest.
inline void ignore_head(const HttpReply&) {}
inline void ignore_body(std::span<const std::byte>) {}

}  // namespace stoker::detail
