#include "stoker/nn/graph/exported_facts.h"

#include <cstddef>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "stoker/io/exported_program.h"

namespace stoker {

ExportedFacts parse_exported_facts(const std::string& text, const std::filesystem::path& path) {
  ExportedFacts facts{.name = path.stem().string()};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return facts;
  if (json.contains("name") && json["name"].is_string()) facts.name = json["name"];
  const auto size = json.find("size");
  if (size == json.end() || !size->is_array() || size->size() != 2) return facts;
  const auto side = [&](std::size_t i) {
    const bool fits = (*size)[i].is_number_unsigned() && (*size)[i].get<std::uint64_t>() <= 16384;
    return fits ? (*size)[i].get<int>() : 0;
  };
  if (side(0) > 0 && side(1) > 0) {
    facts.height = side(0);
    facts.width = side(1);
  }
  return facts;
}

ExportedFacts read_exported_facts(const std::filesystem::path& path) {
  return parse_exported_facts(read_exported_extra(path), path);
}

}  // namespace stoker
