#include "stoker/store/detail/http_transfer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace stoker::detail {
namespace {

constexpr int kMostRedirects = 5;

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

}  // namespace

struct HttpTransfer::Reading {
  std::uint64_t delivered = 0;
  std::string version;  // of the object, once known
};

RedirectTarget redirect_target(const Url& from, const std::string& location,
                               OtherHosts other_hosts) {
  const std::size_t host_end = location.find('/', location.find("://") + 3);
  const Url next = parse_url(location.substr(0, host_end));
  const bool is_only_safer = other_hosts == OtherHosts::kRefuse && from.scheme == "http" &&
                             next.scheme == "https" && next.host == from.host;
  if (next.origin() != from.origin() && !is_only_safer && other_hosts != OtherHosts::kFollow) {
    throw AttemptFailed(
        fmt::format(
            "a redirect to another host ({}), which is not followed {}", next.origin(),
            other_hosts == OtherHosts::kRefuse ? "without `follow_redirects`" : "with credentials"),
        false);
  }
  if (from.scheme == "https" && next.scheme != "https") {
    throw AttemptFailed("a redirect from https to http, which is not followed", false);
  }
  return {next, host_end == std::string::npos ? "/" : location.substr(host_end)};
}

void check_status(const HttpReply& reply) {
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

HttpTransfer::HttpTransfer(HttpServer server, const RetryOptions& retry)
    : server_(std::move(server)), retry_(retry), client_(retry) {}

HttpReply HttpTransfer::perform(const HttpCall& call, const HttpClient::OnHead& on_head,
                                const ByteSink& sink) const {
  const std::string& query = call.query.empty() ? server_.query : call.query;
  RedirectTarget to{server_.url, call.path + (query.empty() ? "" : "?" + query)};
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    HttpRequest request{.method = call.method,
                        .url = to.server.origin() + to.target,
                        .headers = call.headers,
                        .body = call.body,
                        .stop = call.stop};
    if (server_.sign) {
      const auto headers = server_.sign(call, to.server.host, to.target);
      request.headers.insert(request.headers.end(), headers.begin(), headers.end());
    }
    HttpReply reply = client_.perform(request, on_head, sink);
    if (!is_redirect(reply.status) || reply.redirect.empty()) return reply;
    to = redirect_target(to.server, reply.redirect, server_.other_hosts);
  }
  throw AttemptFailed("more than five redirects", false);
}

std::optional<ObjectFacts> HttpTransfer::look(const HttpObject& object) const {
  return with_retries(retry_, object.shown, {}, [&]() -> std::optional<ObjectFacts> {
    const HttpReply reply =
        perform({.method = "HEAD", .path = object.path}, ignore_head, ignore_body);
    // S3 says 403 of what does not exist to those who may not list.
    if (reply.status == 404 || reply.status == 410) return std::nullopt;
    check_status(reply);
    const auto bytes = reply.number("content-length");
    if (!bytes) throw AttemptFailed("an answer without a length", true);
    const std::string tag = reply.header("etag");
    return ObjectFacts{*bytes, tag.empty() ? reply.header("last-modified") : tag};
  });
}

void HttpTransfer::read(const HttpObject& object, const ReadRequest& request,
                        const ByteSink& sink) const {
  if (request.length == 0U) return;
  Reading reading;
  with_retries(retry_, object.shown, request.stop,
               [&] { read_more(object.path, request, reading, sink); });
}

// One attempt, from where the last one ended.
void HttpTransfer::read_more(const std::string& path, const ReadRequest& request, Reading& reading,
                             const ByteSink& sink) const {
  const std::uint64_t begin = request.begin + reading.delivered;
  if (request.length == reading.delivered) return;
  HttpCall call{.path = path, .stop = request.stop};
  if (begin > 0 || request.begin > 0 || request.range_alone) {
    call.headers.push_back(request.length ? fmt::format("Range: bytes={}-{}", begin,
                                                        request.begin + *request.length - 1)
                                          : fmt::format("Range: bytes={}-", begin));
    if (reading.version.starts_with('"')) call.headers.push_back("If-Match: " + reading.version);
  }
  std::uint64_t to_skip = 0;  // of a server that knows no ranges
  const auto on_head = [&](const HttpReply& reply) {
    to_skip = reply.status == 206 ? 0 : begin;
    if (reply.status != 206 && request.range_alone) {
      throw AttemptFailed("the whole object where a range was asked for", false);
    }
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
    client_.forget_connections();
    throw AttemptFailed(
        fmt::format("an end after {} of {} bytes", request.begin + reading.delivered,
                    request.begin + *request.length),
        true);
  }
}

}  // namespace stoker::detail
