#include "stoker/store/http_client.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <string_view>
#include <utility>

#include <curl/curl.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/store/certificates.h"

namespace stoker {
namespace {

constexpr std::size_t kMostErrorBody = 4096;
constexpr long kSlowBytesPerSecond = 1000;

// A broken TLS connection raises SIGPIPE in this thread; nobody else's business.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const std::timespec now{};
    while (sigtimedwait(&pipe_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

// What the callbacks of one exchange share.
struct Exchange {
  CURL* curl = nullptr;
  const HttpClient::OnHead* on_head = nullptr;
  const ByteSink* sink = nullptr;
  std::stop_token stop;
  HttpReply reply = {};
  bool head_told = false;
  std::string error_body = {};
  std::exception_ptr thrown = {};  // by on_head or sink: must not pass through libcurl
};

void tell_head(Exchange& exchange) {
  if (std::exchange(exchange.head_told, true)) return;
  curl_easy_getinfo(exchange.curl, CURLINFO_RESPONSE_CODE, &exchange.reply.status);
  if (exchange.reply.status / 100 == 2) (*exchange.on_head)(exchange.reply);
}

std::size_t take_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  try {
    tell_head(exchange);
    if (exchange.reply.status / 100 == 2) {
      (*exchange.sink)(std::as_bytes(std::span(data, size)));
    } else if (exchange.error_body.size() < kMostErrorBody) {
      exchange.error_body.append(data, std::min(size, kMostErrorBody));
    }
    return size;
  } catch (...) {
    exchange.thrown = std::current_exception();
    return 0;
  }
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* user) {
  auto& headers = static_cast<Exchange*>(user)->reply.headers;
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) headers.clear();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || headers.size() > 100) return size;
  std::string name(line.substr(0, colon));
  for (char& letter : name)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with('\r') || value.ends_with('\n')) value.remove_suffix(1);
  headers[name] = value;
  return size;
}

int look_for_stop(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Exchange*>(user)->stop.stop_requested() ? 1 : 0;
}

// "NoSuchKey" of "…<Code>NoSuchKey</Code>…". Nothing else of the body: it may repeat what was sent.
std::string error_code_in(std::string_view body) {
  const std::size_t begin = body.find("<Code>");
  if (begin == std::string_view::npos) return {};
  std::string code;
  for (const char letter : body.substr(begin + 6, 60)) {
    if (std::isalpha(static_cast<unsigned char>(letter)) == 0) break;
    code += letter;
  }
  return code;
}

bool worth_retrying(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return false;
    default:
      return true;
  }
}

// What every exchange has.
void set_options(Exchange& exchange, const RetryOptions& limits) {
  CURL* curl = exchange.curl;
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  if (const std::string& file = certificate_file(); !file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, file.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, static_cast<long>(limits.connect.count()));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits.stall.count()));
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L * 1024);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_stop);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

// What this request has of its own. The request must live until the exchange ends.
void set_request(CURL* curl, const HttpRequest& request) {
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  if (request.method == "HEAD") curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  if (request.direct) curl_easy_setopt(curl, CURLOPT_PROXY, "");
  if (request.whole) {
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(request.whole->count()));
  }
  if (!request.content) return;
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.content->data());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request.content->size()));
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

// Headers as libcurl takes them.
class Headers {
 public:
  explicit Headers(const std::vector<std::string>& headers)
      : list_(curl_slist_append(nullptr, "Expect:")) {
    for (const std::string& header : headers) list_ = curl_slist_append(list_, header.c_str());
  }
  ~Headers() { curl_slist_free_all(list_); }
  Headers(const Headers&) = delete;
  Headers& operator=(const Headers&) = delete;
  [[nodiscard]] curl_slist* list() const noexcept { return list_; }

 private:
  curl_slist* list_;
};

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::optional<std::uint64_t> HttpReply::number(const std::string& name) const {
  const std::string text = header(name);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string HttpReply::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

struct HttpClient::Handle {
  explicit Handle(std::uint64_t made_after) : curl(curl_easy_init()), forgotten(made_after) {
    if (curl == nullptr) throw Error({.what = "cannot start an HTTP client"});
  }
  ~Handle() { curl_easy_cleanup(curl); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  CURL* curl;
  std::uint64_t forgotten;  // times that connections had been forgotten when it was made
};

HttpClient::HttpClient(const RetryOptions& limits) : limits_(limits) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Handle> HttpClient::take() const {
  std::uint64_t forgotten = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      auto handle = std::move(idle_.back());
      idle_.pop_back();
      curl_easy_reset(handle->curl);  // keeps its connections
      return handle;
    }
    forgotten = forgotten_;
  }
  return std::make_unique<Handle>(forgotten);
}

void HttpClient::keep(std::unique_ptr<Handle> handle) const {
  const std::scoped_lock lock(mutex_);
  if (handle->forgotten == forgotten_) idle_.push_back(std::move(handle));
}

// The host may have moved, too: handles keep addresses for a minute, longer than most retries take.
void HttpClient::forget_connections() const {
  std::vector<std::unique_ptr<Handle>> idle;
  const std::scoped_lock lock(mutex_);
  ++forgotten_;
  idle.swap(idle_);
}

HttpReply HttpClient::perform(const HttpRequest& request, const OnHead& on_head,
                              const ByteSink& sink) const {
  const WithoutSigpipe quiet;
  auto handle = take();
  CURL* curl = handle->curl;
  Exchange exchange{.curl = curl, .on_head = &on_head, .sink = &sink, .stop = request.stop};
  set_options(exchange, limits_);
  set_request(curl, request);
  std::unique_ptr<std::FILE, FileCloser> body;
  if (request.method == "PUT" && !request.content) {
    body.reset(std::fopen(request.body.c_str(), "rb"));
    if (!body) throw Error({.what = "cannot read the file", .path = request.body.string()});
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READDATA, body.get());
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE,
                     static_cast<curl_off_t>(std::filesystem::file_size(request.body)));
  }
  const Headers headers(request.headers);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list());
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
  if (exchange.thrown != nullptr) std::rethrow_exception(exchange.thrown);
  if (code != CURLE_OK) {
    forget_connections();
    throw AttemptFailed(curl_easy_strerror(code), worth_retrying(code));
  }
  tell_head(exchange);  // a body of no bytes
  const char* redirect = nullptr;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) exchange.reply.redirect = redirect;
  exchange.reply.error_code = error_code_in(exchange.error_body);
  keep(std::move(handle));
  return std::move(exchange.reply);
}

}  // namespace stoker
