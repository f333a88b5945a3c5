#include "stoker/store/s3_store.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "stoker/store/detail/http_transfer.h"
#include "stoker/store/url.h"

namespace stoker {
namespace {

constexpr const char* kNoBody =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";  // SHA-256 of nothing

// Scheme and host, and the bucket's path there.
Url server_of(const std::string& bucket, const AwsSettings& settings) {
  if (settings.endpoint.empty()) {
    return {.scheme = "https", .host = bucket + "." + aws_host("s3", settings.region), .path = ""};
  }
  Url server = parse_url(settings.endpoint);
  server.path += "/" + percent_encoded(bucket, false);
  return server;
}

detail::Sign signer(const AwsSettings& settings) {
  if (settings.credentials == nullptr) return {};
  return [source = settings.credentials, region = settings.region](
             const detail::HttpCall& call, const std::string& host, const std::string& target) {
    const std::size_t mark = target.find('?');
    return sign_v4({.method = call.method,
                    .host = host,
                    .path = target.substr(0, mark),
                    .query = mark == std::string::npos ? "" : target.substr(mark + 1),
                    .payload_hash = call.payload_hash.empty() ? kNoBody : call.payload_hash,
                    .time = aws_time()},
                   source->get(call.stop), region);
  };
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

S3Store::S3Store(const std::string& prefix, const AwsSettings& settings, const RetryOptions& retry)
    : retry_(retry) {
  const Url named = parse_url(prefix);
  where_ = "s3://" + named.host + named.path;
  prefix_ = named.path.empty() ? "" : named.path.substr(1);
  const Url server = server_of(named.host, settings);
  root_ = server.path;
  transfer_ = std::make_unique<detail::HttpTransfer>(
      detail::HttpServer{.url = server,
                         .other_hosts = detail::OtherHosts::kRefuseSigned,
                         .sign = signer(settings)},
      retry);
}

S3Store::~S3Store() = default;

std::string S3Store::path_of(const std::string& name) const {
  const std::string key = prefix_.empty() ? name : prefix_ + "/" + name;
  return root_ + "/" + percent_encoded(key, true);
}

std::optional<ObjectFacts> S3Store::look(const std::string& name) const {
  return transfer_->look({path_of(name), object_path(*this, name)});
}

void S3Store::read(const ReadRequest& request, const ByteSink& sink) const {
  transfer_->read({path_of(request.name), object_path(*this, request.name)}, request, sink);
}

void S3Store::write(const std::string& name, const std::filesystem::path& file) const {
  const std::string hash = sha256_hex_of_file(file);
  with_retries(retry_, object_path(*this, name), {}, [&] {
    detail::check_status(transfer_->perform(
        {.method = "PUT", .path = path_of(name), .payload_hash = hash, .body = file},
        detail::ignore_head, detail::ignore_body));
  });
}

std::string S3Store::list_page(const std::string& query) const {
  return with_retries(retry_, where_, {}, [&] {
    std::string body;
    const auto take = [&](std::span<const std::byte> bytes) {
      body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (body.size() > 64U << 20) throw AttemptFailed("a listing of 64 MB", false);
    };
    detail::check_status(
        transfer_->perform({.path = root_ + "/", .query = query}, detail::ignore_head, take));
    return body;
  });
}

std::vector<std::string> S3Store::list() const {
  std::vector<std::string> names;
  const std::string root = prefix_.empty() ? "" : prefix_ + "/";
  std::string after;
  do {
    std::string query = "list-type=2&prefix=" + percent_encoded(root, false);
    if (!after.empty()) query = "continuation-token=" + percent_encoded(after, false) + "&" + query;
    const std::string text = list_page(query);
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
