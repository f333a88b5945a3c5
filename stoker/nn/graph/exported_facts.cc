#include "stoker/nn/graph/exported_facts.h"

#include <cstddef>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "stoker/io/exported_program.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

std::string text_fact(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
}

// A number for each channel; empty where it is anything else.
std::vector<double> channel_facts(const Json& json, const char* name) {
  constexpr std::size_t kMost = 16;
  std::vector<double> numbers;
  if (!json.contains(name) || !json[name].is_array() || json[name].size() > kMost) return numbers;
  for (const Json& one : json[name]) {
    if (!one.is_number()) return {};
    numbers.push_back(one.get<double>());
  }
  return numbers;
}

}  // namespace

ExportedFacts parse_exported_facts(const std::string& text, const std::filesystem::path& path) {
  ExportedFacts facts{.name = path.stem().string()};
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return facts;
  if (json.contains("name") && json["name"].is_string()) facts.name = json["name"];
  facts.library = text_fact(json, "library");
  facts.interpolation = text_fact(json, "interpolation");
  facts.mean = channel_facts(json, "mean");
  facts.deviation = channel_facts(json, "std");
  if (json.contains("crop") && json["crop"].is_number()) facts.crop = json["crop"].get<double>();
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
