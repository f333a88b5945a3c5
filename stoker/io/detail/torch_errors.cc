#include "stoker/io/detail/torch_errors.h"

#include <utility>

#include "stoker/core/error.h"

namespace stoker::detail {

void fail_torch(const std::string& file, std::uint64_t offset, std::string expected,
                std::string found, std::string_view hint) {
  throw Error({.what = "cannot read PyTorch file",
               .path = file,
               .offset = offset,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::string(hint)});
}

}  // namespace stoker::detail
