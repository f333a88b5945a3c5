#include "stoker/io/detail/exported_errors.h"

#include <utility>

#include "stoker/core/error.h"

namespace stoker::detail {

void fail_export(const std::string& file, std::string expected, std::string found,
                 std::string_view hint) {
  throw Error({.what = "cannot read the exported network",
               .path = file,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::string(hint)});
}

}  // namespace stoker::detail
