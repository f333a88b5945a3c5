#include "stoker/data/detail/json_class.h"

#include <nlohmann/json.hpp>

namespace stoker::detail {

std::string class_in_json(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto json = nlohmann::json::parse(text, text + bytes.size(), nullptr, false);
  if (!json.is_object()) return {};
  for (const char* key : {"label", "cls", "class"}) {
    const auto field = json.find(key);
    if (field == json.end()) continue;
    if (field->is_string()) return field->get<std::string>();
    if (field->is_number_integer()) return field->dump();
  }
  return {};
}

}  // namespace stoker::detail
