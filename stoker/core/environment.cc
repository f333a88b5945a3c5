#include "stoker/core/environment.h"

#include <cstdlib>

namespace stoker {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::filesystem::path user_cache_folder(const Environment& environment) {
  const std::string cache = environment("XDG_CACHE_HOME").value_or("");
  if (!cache.empty()) return cache;
  const std::string home = environment("HOME").value_or("");
  return home.empty() ? std::filesystem::path() : std::filesystem::path(home) / ".cache";
}

}  // namespace stoker
