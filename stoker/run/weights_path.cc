#include "stoker/run/weights_path.h"

#include "stoker/core/error.h"

namespace stoker {

std::filesystem::path weights_path(const std::string& given) {
  std::filesystem::path path = given;
  if (!std::filesystem::is_directory(path)) return path;
  std::filesystem::path best = path / "weights" / "best.safetensors";
  if (std::filesystem::exists(best)) return best;
  std::filesystem::path published = path / "model.safetensors";
  if (std::filesystem::exists(published)) return published;
  throw Error({.what = "the folder has no weights",
               .path = given,
               .expected = "weights/best.safetensors or model.safetensors in it",
               .hint = "`stoker train` writes them after the first epoch. Or name a file"});
}

}  // namespace stoker
