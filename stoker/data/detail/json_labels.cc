#include "stoker/data/detail/json_labels.h"

#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/data/detail/table_text.h"

namespace stoker::detail {
namespace {

using Json = nlohmann::json;

Json parse_json(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return Json::parse(text, text + bytes.size(), nullptr, false);
}

// Texts and whole numbers are names.
std::optional<std::string> name_in(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  if (!value.is_string()) return std::nullopt;
  auto name = value.get<std::string>();
  if (name.empty() || !is_plain_text(name)) return std::nullopt;
  return name;
}

std::optional<bool> flag_in_json(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (number == 0 || number == 1) return number == 1;
  return std::nullopt;
}

ErrorDetails misfit(const std::string& key, std::string expected, std::string found = {}) {
  return {.what = "cannot use the sample's .json",
          .expected = fmt::format("{} under \"{}\"", expected, key),
          .found = std::move(found)};
}

// Reads values one after the other; the first that does not fit is the error.
class JsonReader {
 public:
  explicit JsonReader(const Json& json) : json_(json) {}

  void read_class(const std::string& key) {
    const Json* value = find(key);
    const auto name = value == nullptr ? std::nullopt : name_in(*value);
    if (!name) return fail(key, "the name or number of a class", value);
    labels_.class_text = *name;
  }

  void read_list(const std::string& key) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_array()) return read_flag(key);
    if (value == nullptr) return fail(key, "a list of classes", value);
    labels_.is_list = true;
    bool all_flags = true;
    for (const Json& element : *value) {
      const auto name = name_in(element);
      const auto flag = flag_in_json(element);
      if (!name && !flag) return fail(key, "names, whole numbers, or 0 and 1", &element);
      labels_.names.push_back(name ? *name : *flag ? "1" : "0");
      all_flags = all_flags && flag;
      labels_.flags.push_back(flag.value_or(false));
    }
    if (!all_flags) labels_.flags.clear();
  }

  // Without a value it is 0, as in a table.
  void read_flag(const std::string& key) {
    const Json* value = find(key);
    const bool missing = value == nullptr || value->is_null();
    const auto flag = missing ? std::optional(false) : flag_in_json(*value);
    if (!flag) return fail(key, "0 or 1, true or false", value);
    labels_.flags.push_back(*flag);
  }

  void read_number(const std::string& key, bool weight) {
    const Json* value = find(key);
    const bool is_number = value != nullptr && value->is_number();
    const auto number = static_cast<float>(is_number ? value->get<double>() : std::nan(""));
    if (!std::isfinite(number) || (weight && number < 0)) {
      return fail(key, weight ? "a weight of 0 or more" : "a finite number", value);
    }
    labels_.numbers.push_back(number);
  }

  [[nodiscard]] Result<JsonLabels> take() && {
    if (error_) return *std::move(error_);
    return std::move(labels_);
  }

 private:
  [[nodiscard]] const Json* find(const std::string& key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  void fail(const std::string& key, std::string expected, const Json* value) {
    if (error_) return;
    error_ =
        misfit(key, std::move(expected),
               value == nullptr
                   ? "nothing"
                   : value->dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 100));
  }

  const Json& json_;
  JsonLabels labels_;
  std::optional<ErrorDetails> error_;
};

}  // namespace

std::string class_in_json(std::span<const std::byte> bytes) {
  const Json json = parse_json(bytes);
  if (!json.is_object()) return {};
  for (const char* key : {"label", "cls", "class"}) {
    const auto field = json.find(key);
    if (field == json.end()) continue;
    if (field->is_string()) return field->get<std::string>();
    if (field->is_number_integer()) return field->dump();
  }
  return {};
}

bool names_keys(const TableColumns& columns) {
  return !columns.label.empty() || !columns.labels.empty() || !columns.targets.empty() ||
         !columns.weight.empty();
}

Result<JsonLabels> labels_in_json(std::span<const std::byte> bytes, const TableColumns& columns) {
  const Json json = parse_json(bytes);
  if (!json.is_object()) {
    return ErrorDetails{.what = "cannot use the sample's .json",
                        .expected = "a JSON object",
                        .found = json.is_discarded() ? "no JSON" : json.type_name()};
  }
  JsonReader reader(json);
  if (!columns.label.empty()) reader.read_class(columns.label);
  if (columns.labels.size() == 1) {
    reader.read_list(columns.labels.front());
  } else {
    for (const std::string& key : columns.labels) reader.read_flag(key);
  }
  for (const std::string& key : columns.targets) reader.read_number(key, false);
  if (!columns.weight.empty()) reader.read_number(columns.weight, true);
  return std::move(reader).take();
}

TableColumns json_keys(std::span<const FieldInfo> fields) {
  TableColumns keys;
  for (const FieldInfo& field : fields) {
    if (field.name == kClassesField) keys.labels = {kJsonLabelsKey};
    if (field.name == kTargetField) keys.targets = field.values;
    if (field.name == kWeightField) keys.weight = field.values.front();
  }
  return keys;
}

std::string json_of(std::span<const FieldInfo> fields, std::span<const float> numbers) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  std::size_t at = 0;
  for (const FieldInfo& field : fields) {
    const bool is_set = field.name == kClassesField;
    if (is_set) json[kJsonLabelsKey] = nlohmann::ordered_json::array();
    for (const std::string& value : field.values) {
      const float number = numbers[at++];
      if (is_set) {
        if (number != 0) json[kJsonLabelsKey].push_back(value);
        continue;
      }
      if (!std::isfinite(number)) {
        throw Error({.what = "cannot write a sample's .json",
                     .expected = "finite numbers",
                     .found = fmt::format("{} {}", value, number)});
      }
      if (json.contains(value)) {
        throw Error({.what = "two numbers of a sample would have the same key in its .json",
                     .path = value,
                     .hint = "Rename one of the columns."});
      }
      // The shortest digits that give this float again, not those of the double.
      json[value] = std::strtod(fmt::format("{}", number).c_str(), nullptr);
    }
  }
  try {
    return json.dump();
  } catch (const nlohmann::json::exception&) {
    throw Error({.what = "cannot write a sample's .json",
                 .expected = "names of classes and columns in UTF-8"});
  }
}

}  // namespace stoker::detail
