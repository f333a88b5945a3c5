// Finds the store that a text names: s3://bucket/prefix, http://… and https://…, or a folder.
#pragma once

#include <memory>
#include <string>

#include "stoker/export.h"
#include "stoker/store/store.h"
#include "stoker/store/store_options.h"

namespace stoker {

[[nodiscard]] bool is_url(const std::string& text);

// Throws Error for a URL of another kind, or with a name and password or a query in it: these would
// be written wherever the data's name is.
[[nodiscard]] STOKER_API std::shared_ptr<const Store> open_store(const std::string& where,
                                                                 const StoreOptions& options = {});

}  // namespace stoker
