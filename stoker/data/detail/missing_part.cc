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
                               ? "a folder test, a list test.txt, or rows of a table with test"
                               : "a folder val, valid or validation, a list val.txt, or rows of "
                                 "a table with val",
               .found = std::move(found),
               .hint = "Choose another `split`, or make the part with `stoker split`."});
}

}  // namespace stoker::detail
