#include "stoker/data/detail/relative_prefix.h"

#include <system_error>

namespace stoker::detail {

namespace fs = std::filesystem;

std::string relative_prefix(const fs::path& file, const fs::path& root) {
  std::error_code error;
  const fs::path folder =
      fs::weakly_canonical(file.has_parent_path() ? file.parent_path() : fs::path("."), error);
  const fs::path data = fs::canonical(root, error);
  if (error) return fs::absolute(root).string() + "/";
  const std::string way = data.lexically_relative(folder).string();
  return way == "." ? "" : way + "/";
}

}  // namespace stoker::detail
