#include "stoker/io/detail/exported_arguments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "stoker/io/detail/exported_errors.h"
#include "stoker/io/detail/text.h"

namespace stoker::detail {
namespace {

using Json = nlohmann::json;

// torch.export's numbers of types; nullopt: complex numbers, and none.
constexpr std::array<std::optional<DType>, 14> kTypes = {
    std::nullopt, DType::kU8,   DType::kI8,   DType::kI16, DType::kI32,
    DType::kI64,  DType::kF16,  DType::kF32,  DType::kF64, std::nullopt,
    std::nullopt, std::nullopt, DType::kBool, DType::kBf16};

[[noreturn]] void fail_kind(const std::string& file, const std::string& where, const char* expected,
                            const Json& found) {
  fail_export(file, fmt::format("{} as {}", expected, where),
              printable(found.dump().substr(0, 80)));
}

std::int64_t integer_of(const Json& json, const std::string& file, const std::string& where) {
  const bool fits = json.is_number_integer() &&
                    (!json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX);
  if (!fits) fail_kind(file, where, "an integer", json);
  return json.get<std::int64_t>();
}

double number_of(const Json& json, const std::string& file, const std::string& where) {
  if (json.is_number()) return json.get<double>();
  if (json == "Infinity") return HUGE_VAL;
  if (json == "-Infinity") return -HUGE_VAL;
  fail_kind(file, where, "a number", json);
}

bool bool_of(const Json& json, const std::string& file, const std::string& where) {
  if (!json.is_boolean()) fail_kind(file, where, "true or false", json);
  return json.get<bool>();
}

const Json& list_of(const Json& json, const std::string& file, const std::string& where) {
  if (!json.is_array()) fail_kind(file, where, "a list", json);
  return json;
}

template <typename T, typename Read>
std::vector<T> read_list(const Json& json, const std::string& file, const std::string& where,
                         const Read& read) {
  std::vector<T> values;
  for (const Json& one : list_of(json, file, where)) values.push_back(read(one));
  return values;
}

GraphSize read_size(const Json& json, const GraphNames& names, const std::string& file,
                    const std::string& where) {
  const auto [tag, value] = tagged(json, file, where);
  if (tag == "as_int") return integer_of(value, file, where);
  if (tag == "as_name" && value.is_string()) return names.integer(value.get<std::string>());
  fail_kind(file, where, "an integer or the name of one", json);
}

GraphArgument read_one_size(const Json& json, const GraphNames& names, const std::string& file,
                            const std::string& where) {
  const GraphSize size = read_size(json, names, file, where);
  if (const auto* number = std::get_if<std::int64_t>(&size)) return *number;
  return std::get<GraphReference>(size);
}

GraphReference read_tensor(const Json& json, const GraphNames& names, const std::string& file,
                           const std::string& where) {
  return names.tensor(text_member(json, "name", file, where));
}

std::optional<GraphReference> read_optional_tensor(const Json& json, const GraphNames& names,
                                                   const std::string& file,
                                                   const std::string& where) {
  const auto [tag, value] = tagged(json, file, where);
  if (tag == "as_none") return std::nullopt;
  if (tag != "as_tensor") fail_kind(file, where, "a tensor or none", json);
  return read_tensor(value, names, file, where);
}

GraphMemoryFormat read_memory_format(const Json& json, const std::string& file,
                                     const std::string& where) {
  switch (integer_of(json, file, where)) {  // torch.export's numbers
    case 1:
      return GraphMemoryFormat::kContiguous;
    case 2:
      return GraphMemoryFormat::kChannelsLast;
    case 4:
      return GraphMemoryFormat::kPreserve;
    default:
      fail_kind(file, where, "a memory format of images", json);
  }
}

using References = std::vector<std::optional<GraphReference>>;

std::optional<GraphArgument> read_list_argument(const std::string& tag, const Json& value,
                                                const GraphNames& names, const std::string& file,
                                                const std::string& where) {
  if (tag == "as_ints") {
    return read_list<std::int64_t>(value, file, where,
                                   [&](const Json& one) { return integer_of(one, file, where); });
  }
  if (tag == "as_floats") {
    return read_list<double>(value, file, where,
                             [&](const Json& one) { return number_of(one, file, where); });
  }
  if (tag == "as_bools") {
    return read_list<bool>(value, file, where,
                           [&](const Json& one) { return bool_of(one, file, where); });
  }
  if (tag == "as_sym_ints") {
    return read_list<GraphSize>(
        value, file, where, [&](const Json& one) { return read_size(one, names, file, where); });
  }
  if (tag == "as_tensors") {
    return read_list<std::optional<GraphReference>>(
        value, file, where, [&](const Json& one) { return read_tensor(one, names, file, where); });
  }
  if (tag == "as_optional_tensors") {
    return read_list<std::optional<GraphReference>>(value, file, where, [&](const Json& one) {
      return read_optional_tensor(one, names, file, where);
    });
  }
  return std::nullopt;
}

}  // namespace

JsonTagged tagged(const Json& json, const std::string& file, const std::string& where) {
  if (!json.is_object() || json.size() != 1) fail_kind(file, where, "an object of one key", json);
  return {json.begin().key(), json.begin().value()};
}

const Json& member(const Json& json, const char* name, const std::string& file,
                   const std::string& where) {
  if (!json.is_object()) fail_kind(file, where, "an object", json);
  const auto found = json.find(name);
  if (found == json.end()) fail_export(file, fmt::format("{} of {}", name, where), "none");
  return *found;
}

const std::string& text_member(const Json& json, const char* name, const std::string& file,
                               const std::string& where) {
  const Json& found = member(json, name, file, where);
  if (!found.is_string()) fail_kind(file, fmt::format("{} of {}", name, where), "a text", found);
  return found.get_ref<const std::string&>();
}

const Json& list_member(const Json& json, const char* name, const std::string& file,
                        const std::string& where) {
  return list_of(member(json, name, file, where), file, fmt::format("{} of {}", name, where));
}

GraphReference GraphNames::define(const std::string& name, bool is_tensor) {
  const GraphReference reference{static_cast<std::uint32_t>(values_.size())};
  if (!numbers_.emplace(name, reference.value).second) {
    fail_export(file_, "each value once", fmt::format("{} twice", printable(name)));
  }
  values_.push_back({.name = name, .is_tensor = is_tensor});
  return reference;
}

GraphReference GraphNames::find(const std::string& name, bool is_tensor) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) {
    fail_export(file_, "values that are defined before they are used", printable(name));
  }
  if (values_[found->second].is_tensor != is_tensor) {
    fail_export(
        file_, is_tensor ? "a tensor" : "an integer",
        fmt::format("{}, which is {}", printable(name), is_tensor ? "an integer" : "a tensor"));
  }
  return {found->second};
}

std::int64_t type_number(DType dtype) {
  return std::ranges::find(kTypes, std::optional(dtype)) - kTypes.begin();
}

std::int64_t memory_format_number(GraphMemoryFormat format) {
  switch (format) {
    case GraphMemoryFormat::kContiguous:
      return 1;
    case GraphMemoryFormat::kChannelsLast:
      return 2;
    case GraphMemoryFormat::kPreserve:
      break;
  }
  return 4;
}

DType read_type(const Json& json, const std::string& file, const std::string& where) {
  const std::int64_t number = integer_of(json, file, where);
  const bool known = number >= 0 && number < static_cast<std::int64_t>(kTypes.size()) &&
                     kTypes[static_cast<std::size_t>(number)];
  if (!known) fail_kind(file, where, "a type of real numbers", json);
  return *kTypes[static_cast<std::size_t>(number)];
}

GraphArgument read_argument(const Json& json, const GraphNames& names, const std::string& file,
                            const std::string& where) {
  const auto [tag, value] = tagged(json, file, where);
  if (tag == "as_none") return GraphNone{};
  if (tag == "as_tensor") return read_tensor(value, names, file, where);
  if (tag == "as_optional_tensor") {
    if (const auto found = read_optional_tensor(value, names, file, where)) return *found;
    return GraphNone{};
  }
  if (tag == "as_int") return integer_of(value, file, where);
  if (tag == "as_float") return number_of(value, file, where);
  if (tag == "as_bool") return bool_of(value, file, where);
  if (tag == "as_sym_int") return read_one_size(value, names, file, where);
  if (tag == "as_string" && value.is_string()) return value.get<std::string>();
  if (tag == "as_scalar_type") return read_type(value, file, where);
  if (tag == "as_device") return GraphDevice{};
  if (tag == "as_memory_format") return read_memory_format(value, file, where);
  if (tag == "as_layout" && integer_of(value, file, where) == kStridedLayout) return GraphStrided{};
  if (auto list = read_list_argument(tag, value, names, file, where)) return *std::move(list);
  fail_kind(file, where, "an argument of a known kind", json);
}

GraphOutput read_output(const Json& json, GraphNames& names, const std::string& file,
                        const std::string& where) {
  const auto [tag, value] = tagged(json, file, where);
  GraphOutput output;
  if (tag == "as_none") return output;
  if (tag == "as_tensor") {
    output.values.push_back(names.define(text_member(value, "name", file, where), true));
    return output;
  }
  if (tag == "as_sym_int") {
    output.values.push_back(names.define(text_member(value, "as_name", file, where), false));
    return output;
  }
  if (tag != "as_tensors") fail_kind(file, where, "a tensor, a list of them or an integer", json);
  output.is_list = true;
  for (const Json& one : list_of(value, file, where)) {
    output.values.push_back(names.define(text_member(one, "name", file, where), true));
  }
  return output;
}

}  // namespace stoker::detail
