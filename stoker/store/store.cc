#include "stoker/store/store.h"

#include <utility>

namespace stoker {

std::string object_path(const Store& store, const std::string& name) {
  return store.where() + "/" + name;
}

std::string read_text(const Store& store, const std::string& name, std::uint64_t max_bytes,
                      std::stop_token stop) {
  std::string text;
  store.read({.name = name, .at_most = max_bytes, .stop = std::move(stop)},
             [&](std::span<const std::byte> bytes) {
               text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
             });
  return text;
}

}  // namespace stoker
