#include "stoker/io/detail/exported_shapes.h"

#include <cstdint>
#include <optional>

#include "stoker/io/detail/safetensors_header.h"

namespace stoker::detail {
namespace {

using Json = nlohmann::json;

std::optional<std::int64_t> claimed_integer(const Json& json) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (!json.is_object() || !json.contains("as_int") || !json["as_int"].is_number_unsigned()) {
    return std::nullopt;
  }
  const auto value = json["as_int"].get<std::uint64_t>();
  if (value > static_cast<std::uint64_t>(kMost)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// {"as_int": 64}, or {"as_expr": {"expr_str": …, "hint": {"as_int": 4}}}.
std::optional<ClaimedSize> claimed_size(const Json& json) {
  if (const auto fixed = claimed_integer(json)) return ClaimedSize{.size = *fixed};
  if (!json.is_object() || !json.contains("as_expr") || !json["as_expr"].is_object()) {
    return std::nullopt;
  }
  const auto hint = json["as_expr"].find("hint");
  if (hint == json["as_expr"].end()) return std::nullopt;
  const auto size = claimed_integer(*hint);
  return size ? std::optional(ClaimedSize{.size = *size, .is_fixed = false}) : std::nullopt;
}

std::optional<std::vector<ClaimedSize>> claimed_shape(const Json& value) {
  if (!value.is_object()) return std::nullopt;
  const auto sizes = value.find("sizes");
  if (sizes == value.end() || !sizes->is_array() || sizes->size() > kMaxDimensions) {
    return std::nullopt;
  }
  std::vector<ClaimedSize> shape;
  for (const Json& one : *sizes) {
    const auto size = claimed_size(one);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

}  // namespace

void read_claimed_shapes(const Json& graph, std::vector<GraphValueInfo>& values) {
  const auto table = graph.find("tensor_values");
  if (table == graph.end() || !table->is_object()) return;
  for (GraphValueInfo& value : values) {
    const auto found = value.is_tensor ? table->find(value.name) : table->end();
    if (found != table->end()) value.shape = claimed_shape(*found);
  }
}

}  // namespace stoker::detail
