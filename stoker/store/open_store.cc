#include "stoker/store/open_store.h"

#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/store/aws.h"
#include "stoker/store/http_store.h"
#include "stoker/store/local_store.h"
#include "stoker/store/s3_store.h"
#include "stoker/store/signed_urls.h"
#include "stoker/store/url.h"

namespace stoker {

bool is_url(const std::string& text) { return text.find("://") != std::string::npos; }

std::shared_ptr<const Store> open_store(const std::string& where, const StoreOptions& options) {
  if (!is_url(where)) return std::make_shared<LocalStore>(where);
  const std::string scheme = parse_url(where).scheme;
  if (scheme == "s3") {
    AwsSettings settings = aws_settings(options.environment);
    settings.credentials = shared_credentials(std::move(settings.credentials));
    return std::make_shared<S3Store>(where, settings, options.retry);
  }
  if (scheme == "http" || scheme == "https") {
    return std::make_shared<HttpStore>(
        where, options.retry,
        HttpAccess{.query = signed_query(parse_url(where), options.environment),
                   .follow_redirects = options.follow_redirects});
  }
  throw Error({.what = "cannot open the store",
               .path = where,
               .expected = "s3://, http://, https:// or a folder",
               .found = scheme + "://"});
}

}  // namespace stoker
