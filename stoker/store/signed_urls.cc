#include "stoker/store/signed_urls.h"

#include <algorithm>
#include <cstddef>
#include <sstream>

#include "stoker/core/error.h"

namespace stoker {
namespace {

constexpr const char* kSignedUrls = "STOKER_SIGNED_URLS";

struct SignedUrl {
  Url url;
  std::string query;
};

SignedUrl parse_signed_url(const std::string& text) {
  const std::size_t mark = text.find('?');
  const SignedUrl signed_url{.url = parse_url(text.substr(0, mark)),
                             .query = mark == std::string::npos ? "" : text.substr(mark + 1)};
  const bool printable = std::ranges::all_of(
      signed_url.query, [](char letter) { return letter > ' ' && letter < 0x7F && letter != '#'; });
  if (!signed_url.query.empty() && printable && may_take_secrets(signed_url.url)) return signed_url;
  throw Error({.what = std::string("cannot use an address of ") + kSignedUrls,
               .path = signed_url.url.origin() + signed_url.url.path,
               .expected = "https://HOST/PATH?QUERY"});
}

bool is_at_or_below(const Url& url, const Url& root) {
  return url.origin() == root.origin() &&
         (url.path == root.path || url.path.starts_with(root.path + "/"));
}

}  // namespace

std::string signed_query(const Url& url, const Environment& environment) {
  std::istringstream addresses(environment(kSignedUrls).value_or(""));
  SignedUrl nearest;
  for (std::string text; addresses >> text;) {
    const SignedUrl found = parse_signed_url(text);
    const bool nearer = nearest.query.empty() || found.url.path.size() > nearest.url.path.size();
    if (is_at_or_below(url, found.url) && nearer) nearest = found;
  }
  return nearest.query;
}

}  // namespace stoker
