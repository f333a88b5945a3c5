// Addresses that carry a signature, such as the SAS URLs of Azure Blob Storage. Their query is a
// secret, so it is not part of the name of data, which is written into a run's folder: it comes
// from a variable and is added to requests.
#pragma once

#include <string>

#include "stoker/core/environment.h"
#include "stoker/store/url.h"

namespace stoker {

// The query that STOKER_SIGNED_URLS (addresses with spaces between them) has for this address or
// the nearest one above it on the same server; "" where there is none. Throws Error, without the
// query, where an address of the variable is not https or has no query.
[[nodiscard]] std::string signed_query(const Url& url, const Environment& environment);

}  // namespace stoker
