// Values of an exported graph by their names, and the arguments of its operators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "stoker/io/exported_program.h"

namespace stoker::detail {

// Names get their numbers when they are defined; a name that is used before is an Error.
class GraphNames {
 public:
  GraphNames(std::vector<GraphValueInfo>& values, const std::string& file)
      : values_(values), file_(file) {}

  GraphReference define(const std::string& name, bool is_tensor);
  [[nodiscard]] GraphReference tensor(const std::string& name) const { return find(name, true); }
  [[nodiscard]] GraphReference integer(const std::string& name) const { return find(name, false); }

 private:
  [[nodiscard]] GraphReference find(const std::string& name, bool is_tensor) const;

  std::vector<GraphValueInfo>& values_;
  const std::string& file_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// {"as_ints": [2, 2]}. `where` is for messages: "argument stride of aten::conv2d".
[[nodiscard]] GraphArgument read_argument(const nlohmann::json& json, const GraphNames& names,
                                          const std::string& file, const std::string& where);

// {"as_tensor": {"name": "conv2d"}}, {"as_tensors": […]} or {"as_sym_int": {"as_name": "mul"}}.
[[nodiscard]] GraphOutput read_output(const nlohmann::json& json, GraphNames& names,
                                      const std::string& file, const std::string& where);

// The type of numbers that torch.export calls by this number.
[[nodiscard]] DType read_type(const nlohmann::json& json, const std::string& file,
                              const std::string& where);

// And the other way.
[[nodiscard]] std::int64_t type_number(DType dtype);
[[nodiscard]] std::int64_t memory_format_number(GraphMemoryFormat format);
inline constexpr std::int64_t kStridedLayout = 7;

// The only key of an object and its value; Error where it is no such object.
struct JsonTagged {
  const std::string& tag;
  const nlohmann::json& value;
};
[[nodiscard]] JsonTagged tagged(const nlohmann::json& json, const std::string& file,
                                const std::string& where);
// Members; Error where they are missing or of another kind.
[[nodiscard]] const nlohmann::json& member(const nlohmann::json& json, const char* name,
                                           const std::string& file, const std::string& where);
[[nodiscard]] const std::string& text_member(const nlohmann::json& json, const char* name,
                                             const std::string& file, const std::string& where);
[[nodiscard]] const nlohmann::json& list_member(const nlohmann::json& json, const char* name,
                                                const std::string& file, const std::string& where);

}  // namespace stoker::detail
