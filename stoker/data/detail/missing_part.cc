#include "stoker/data/detail/missing_part.h"

#include <fmt/format.h>

#include "stoker/core/error.h"

namespace stoker::detail {

void fail_missing_part(const std::string& path, Split split, const DataParts& parts) {
  std::string found = "data without parts";
  if (!parts.whole()) {
    found =
        fmt::format("train{}{}", parts.validation ? " and val" : "", parts.test ? " and test" : "");
  }
  throw Error({.what = fmt::format("the data has no {} part",
                                   split == Split::kValidation ? "validation" : name_of(split)),
               .path = path,
               .expected = split == Split::kTest
                               ? "a folder test, or a list test.txt"
                               : "a folder val, valid or validation, or a list val.txt",
               .found = std::move(found),
               .hint = "Choose another `split`, or make the part with `stoker split`."});
}

}  // namespace stoker::detail
