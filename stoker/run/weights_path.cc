#include "stoker/run/weights_path.h"

#include "stoker/core/error.h"

namespace stoker {

std::filesystem::path weights_path(const std::string& given) {
  std::filesystem::path path = given;
  if (!std::filesystem::is_directory(path)) return path;
  std::filesystem::path best = path / "weights" / "best.safetensors";
  if (std::filesystem::exists(best)) return best;
  throw Error({.what = "the folder has no weights",
               .path = given,
               .expected = "weights/best.safetensors in it",
               .hint = "`stoker train` writes them after the first epoch. Or name a file"});
}

}  // namespace stoker
