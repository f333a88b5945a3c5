#include "stoker/store/http_store.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr int kMostRedirects = 5;
constexpr const char* kNoBody =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";  // SHA-256 of nothing

[[noreturn]] void fail(const std::string& path, std::string found, std::string hint = {}) {
  throw Error({.what = "cannot use the store",
               .path = path,
               .found = std::move(found),
               .hint = std::move(hint)});
}

void drop(std::span<const std::byte>) {}
void ignore(const HttpReply&) {}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// The first byte of "bytes 100-199/1000".
std::optional<std::uint64_t> range_begin(const HttpReply& reply) {
  const std::string text = reply.header("content-range");
  std::uint64_t begin = 0;
  if (!text.starts_with("bytes ")) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 6, text.data() + text.size(), begin);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '-') return std::nullopt;
  return begin;
}

// The text between two marks, from `at` on; moves `at` behind it.
std::optional<std::string> between(const std::string& text, const std::string& begin,
                                   const std::string& end, std::size_t& at) {
  const std::size_t first = text.find(begin, at);
  if (first == std::string::npos) return std::nullopt;
  const std::size_t last = text.find(end, first);
  if (last == std::string::npos) return std::nullopt;
  at = last + end.size();
  return text.substr(first + begin.size(), last - first - begin.size());
}

}  // namespace

struct HttpStore::Reading {
  std::uint64_t delivered = 0;
  std::string version;  // of the object, once known
};

HttpStore::HttpStore(const std::string& prefix, const RetryOptions& retry)
    : server_(parse_url(prefix)), retry_(retry), client_(retry) {
  where_ = server_.origin() + server_.path;
}

HttpStore::HttpStore(const std::string& prefix, AwsSettings settings, const RetryOptions& retry)
    : s3_(true), aws_(std::move(settings)), retry_(retry), client_(retry) {
  const Url named = parse_url(prefix);
  bucket_ = named.host;
  prefix_ = named.path.empty() ? "" : named.path.substr(1);
  where_ = "s3://" + bucket_ + named.path;
  if (!aws_.endpoint.empty()) {
    server_ = parse_url(aws_.endpoint);
    server_.path += "/" + percent_encoded(bucket_, false);
  } else {
    server_ = {.scheme = "https",
               .host = fmt::format("{}.s3.{}.amazonaws.com", bucket_, aws_.region),
               .path = ""};
  }
}

std::string HttpStore::path_of(const std::string& name) const {
  if (!s3_) return server_.path + "/" + percent_encoded(name, true);
  const std::string key = prefix_.empty() ? name : prefix_ + "/" + name;
  return server_.path + "/" + percent_encoded(key, true);
}

void HttpStore::check_status(const HttpReply& reply) {
  if (reply.status / 100 == 2) return;
  const bool again = reply.status == 408 || reply.status == 429 || reply.status / 100 == 5;
  std::optional<std::chrono::seconds> after;
  if (const auto seconds = reply.number("retry-after"); seconds && *seconds < 3600) {
    after = std::chrono::seconds(*seconds);
  }
  throw AttemptFailed(fmt::format("HTTP status {}{}", reply.status,
                                  reply.error_code.empty() ? "" : " (" + reply.error_code + ")"),
                      again, after);
}

HttpReply HttpStore::perform(const Call& call, const HttpClient::OnHead& on_head,
                             const ByteSink& sink) const {
  Url server = server_;
  std::string target = call.path + (call.query.empty() ? "" : "?" + call.query);
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    HttpRequest request{.method = call.method,
                        .url = server.origin() + target,
                        .headers = call.headers,
                        .body = call.body,
                        .stop = call.stop};
    if (s3_ && aws_.credentials) {
      const std::size_t mark = target.find('?');
      const auto headers =
          sign_v4({.method = call.method,
                   .host = server.host,
                   .path = target.substr(0, mark),
                   .query = mark == std::string::npos ? "" : target.substr(mark + 1),
                   .payload_hash = call.payload_hash.empty() ? kNoBody : call.payload_hash,
                   .time = aws_time()},
                  *aws_.credentials, aws_.region);
      request.headers.insert(request.headers.end(), headers.begin(), headers.end());
    }
    HttpReply reply = client_.perform(request, on_head, sink);
    if (!is_redirect(reply.status) || reply.redirect.empty()) return reply;
    const std::size_t host_end = reply.redirect.find('/', reply.redirect.find("://") + 3);
    const Url next = parse_url(reply.redirect.substr(0, host_end));
    const bool elsewhere = next.origin() != server.origin();
    if (elsewhere && s3_) {
      throw AttemptFailed("a redirect to another host, which is not followed with credentials",
                          false);
    }
    if (server.scheme == "https" && next.scheme != "https") {
      throw AttemptFailed("a redirect from https to http, which is not followed", false);
    }
    server = next;
    target = host_end == std::string::npos ? "/" : reply.redirect.substr(host_end);
  }
  throw AttemptFailed("more than five redirects", false);
}

std::optional<ObjectFacts> HttpStore::look(const std::string& name) const {
  const std::string path = object_path(*this, name);
  return with_retries(retry_, path, {}, [&]() -> std::optional<ObjectFacts> {
    const HttpReply reply = perform({.method = "HEAD", .path = path_of(name)}, ignore, drop);
    // S3 says 403 of what does not exist to those who may not list.
    if (reply.status == 404 || reply.status == 410) return std::nullopt;
    check_status(reply);
    const auto bytes = reply.number("content-length");
    if (!bytes) throw AttemptFailed("an answer without a length", true);
    const std::string tag = reply.header("etag");
    return ObjectFacts{*bytes, tag.empty() ? reply.header("last-modified") : tag};
  });
}

void HttpStore::read(const ReadRequest& request, const ByteSink& sink) const {
  if (request.length == 0U) return;
  Reading reading;
  with_retries(retry_, object_path(*this, request.name), request.stop,
               [&] { read_more(request, reading, sink); });
}

// One attempt, from where the last one ended.
void HttpStore::read_more(const ReadRequest& request, Reading& reading,
                          const ByteSink& sink) const {
  const std::uint64_t begin = request.begin + reading.delivered;
  if (request.length == reading.delivered) return;
  Call call{.path = path_of(request.name), .stop = request.stop};
  if (begin > 0 || request.begin > 0) {
    call.headers.push_back(request.length ? fmt::format("Range: bytes={}-{}", begin,
                                                        request.begin + *request.length - 1)
                                          : fmt::format("Range: bytes={}-", begin));
    if (reading.version.starts_with('"')) call.headers.push_back("If-Match: " + reading.version);
  }
  std::uint64_t to_skip = 0;  // of a server that knows no ranges
  const auto on_head = [&](const HttpReply& reply) {
    to_skip = reply.status == 206 ? 0 : begin;
    if (reply.status == 206 && range_begin(reply) != begin) {
      throw AttemptFailed("another range than the one asked for", true);
    }
    const std::string version = reply.header("etag");
    if (reading.delivered > 0 && version != reading.version) {
      throw AttemptFailed("the object was replaced while it was read", false);
    }
    reading.version = version;
  };
  const auto take = [&](std::span<const std::byte> bytes) {
    const std::size_t skipped = std::min<std::uint64_t>(to_skip, bytes.size());
    to_skip -= skipped;
    bytes = bytes.subspan(skipped);
    if (bytes.empty()) return;
    const std::uint64_t most = request.length.value_or(request.at_most.value_or(UINT64_MAX));
    if (bytes.size() > most - reading.delivered) {
      throw AttemptFailed(fmt::format("more than {} bytes", most), request.length.has_value());
    }
    sink(bytes);
    reading.delivered += bytes.size();
  };
  const HttpReply reply = perform(call, on_head, take);
  check_status(reply);
  if (request.length && reading.delivered < *request.length) {
    throw AttemptFailed(
        fmt::format("an end after {} of {} bytes", request.begin + reading.delivered,
                    request.begin + *request.length),
        true);
  }
}

void HttpStore::write(const std::string& name, const std::filesystem::path& file) const {
  const std::string path = object_path(*this, name);
  if (!s3_) fail(path, "an HTTP server", "Shards can be written to a folder or to s3://.");
  const std::string hash = sha256_hex_of_file(file);
  with_retries(retry_, path, {}, [&] {
    check_status(
        perform({.method = "PUT", .path = path_of(name), .payload_hash = hash, .body = file},
                ignore, drop));
  });
}

std::vector<std::string> HttpStore::list() const {
  if (!s3_) {
    fail(where_, "an HTTP server, which lists nothing",
         "Name the manifest, or shards by a pattern like shard-{000000..000123}.tar.");
  }
  std::vector<std::string> names;
  const std::string root = prefix_.empty() ? "" : prefix_ + "/";
  std::string after;
  do {
    std::string query = "list-type=2&prefix=" + percent_encoded(root, false);
    if (!after.empty()) query = "continuation-token=" + percent_encoded(after, false) + "&" + query;
    const std::string text = with_retries(retry_, where_, {}, [&] {
      std::string body;
      const HttpReply reply =
          perform({.path = server_.path + "/", .query = query}, ignore,
                  [&](std::span<const std::byte> bytes) {
                    body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                    if (body.size() > 64U << 20) {
                      throw AttemptFailed("a listing of 64 MB", false);
                    }
                  });
      check_status(reply);
      return body;
    });
    std::size_t at = 0;
    while (const auto key = between(text, "<Key>", "</Key>", at)) {
      if (key->starts_with(root) && key->find('/', root.size()) == std::string::npos) {
        names.push_back(key->substr(root.size()));
      }
    }
    at = 0;
    after = between(text, "<NextContinuationToken>", "</NextContinuationToken>", at).value_or("");
  } while (!after.empty());
  std::ranges::sort(names);
  return names;
}

}  // namespace stoker
