#include "stoker/store/http_store.h"

#include <utility>

#include "stoker/core/error.h"
#include "stoker/store/detail/http_transfer.h"
#include "stoker/store/url.h"

namespace stoker {
namespace {

[[noreturn]] void fail(const std::string& path, std::string found, std::string hint) {
  throw Error({.what = "cannot use the store",
               .path = path,
               .found = std::move(found),
               .hint = std::move(hint)});
}

}  // namespace

HttpStore::HttpStore(const std::string& prefix, const RetryOptions& retry,
                     const HttpAccess& access) {
  const Url url = parse_url(prefix);
  where_ = url.origin() + url.path;
  root_ = url.path;
  using detail::OtherHosts;
  OtherHosts others = access.follow_redirects ? OtherHosts::kFollow : OtherHosts::kRefuse;
  if (!access.query.empty()) others = OtherHosts::kRefuseSigned;
  transfer_ = std::make_unique<detail::HttpTransfer>(
      detail::HttpServer{.url = url, .other_hosts = others, .query = access.query}, retry);
}

HttpStore::~HttpStore() = default;

std::string HttpStore::path_of(const std::string& name) const {
  return root_ + "/" + percent_encoded(name, true);
}

std::optional<ObjectFacts> HttpStore::look(const std::string& name) const {
  return transfer_->look({path_of(name), object_path(*this, name)});
}

void HttpStore::read(const ReadRequest& request, const ByteSink& sink) const {
  transfer_->read({path_of(request.name), object_path(*this, request.name)}, request, sink);
}

void HttpStore::write(const std::string& name, const std::filesystem::path&) const {
  fail(object_path(*this, name), "an HTTP server",
       "Shards can be written to a folder or to s3://.");
}

std::vector<std::string> HttpStore::list() const {
  fail(where_, "an HTTP server, which lists nothing",
       "Name the manifest, or shards by a pattern like shard-{000000..000123}.tar.");
}

}  // namespace stoker
