#include "stoker/nn/graph/graph_call.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using c10::IValue;
using c10::TypeKind;
using References = std::vector<std::optional<GraphReference>>;

[[noreturn]] void refuse_call(const std::string& file, const std::string& target,
                              std::string expected, std::string found) {
  throw Error({.what = "the exported network cannot be executed",
               .path = file,
               .expected = fmt::format("{} of {}", expected, target),
               .found = std::move(found),
               .hint = "It was perhaps exported by another version of PyTorch: export it again"});
}

// What view() means, for tensors however they lie in memory.
constexpr const char* kView = "aten::view";
constexpr const char* kReshape = "aten::reshape";

std::optional<c10::OperatorHandle> find_schema(const std::string& target) {
  const std::size_t dot = target.find('.');
  const std::string overload = dot == std::string::npos ? "" : target.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({target.substr(0, dot), overload});
}

c10::OperatorHandle find_operator(const GraphNode& node, const std::string& file) {
  const auto found = find_schema(node.target == kView ? kReshape : node.target);
  if (!found) refuse_call(file, node.target, "LibTorch's version", "none");
  return *found;
}

at::MemoryFormat memory_format(GraphMemoryFormat format) {
  switch (format) {
    case GraphMemoryFormat::kContiguous:
      return at::MemoryFormat::Contiguous;
    case GraphMemoryFormat::kChannelsLast:
      return at::MemoryFormat::ChannelsLast;
    case GraphMemoryFormat::kPreserve:
      break;
  }
  return at::MemoryFormat::Preserve;
}

// A number where the schema has a tensor, as Python passes it: its type does not widen others.
at::Tensor wrapped(const at::Scalar& number) {
  at::Tensor tensor = at::scalar_tensor(number, number.isIntegral(/*includeBool=*/false) ? at::kLong
                                                : number.isBoolean()                     ? at::kBool
                                                                     : at::kDouble);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

// A single value as a constant of this type; nullopt where it does not fit.
struct ConstantMaker {
  TypeKind kind;

  std::optional<IValue> operator()(bool value) const {
    if (kind == TypeKind::BoolType || kind == TypeKind::NumberType) return IValue(value);
    if (kind == TypeKind::TensorType) return IValue(wrapped(value));
    return std::nullopt;
  }
  std::optional<IValue> operator()(std::int64_t value) const {
    if (kind == TypeKind::FloatType) return IValue(static_cast<double>(value));
    if (kind == TypeKind::TensorType) return IValue(wrapped(value));
    const bool fits =
        kind == TypeKind::IntType || kind == TypeKind::SymIntType || kind == TypeKind::NumberType;
    return fits ? std::optional(IValue(value)) : std::nullopt;
  }
  std::optional<IValue> operator()(double value) const {
    if (kind == TypeKind::FloatType || kind == TypeKind::NumberType) return IValue(value);
    if (kind == TypeKind::TensorType) return IValue(wrapped(value));
    return std::nullopt;
  }
  std::optional<IValue> operator()(const std::string& value) const {
    return kind == TypeKind::StringType ? std::optional(IValue(value)) : std::nullopt;
  }
  std::optional<IValue> operator()(DType value) const {
    return enumerator(static_cast<std::int64_t>(scalar_type_of(value)));
  }
  std::optional<IValue> operator()(GraphStrided) const {
    return enumerator(static_cast<std::int64_t>(at::kStrided));
  }
  std::optional<IValue> operator()(GraphMemoryFormat value) const {
    return enumerator(static_cast<std::int64_t>(memory_format(value)));
  }
  template <typename Other>
  std::optional<IValue> operator()(const Other&) const {
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<IValue> enumerator(std::int64_t number) const {
    return kind == TypeKind::IntType ? std::optional(IValue(number)) : std::nullopt;
  }
};

std::optional<IValue> constant_list(const GraphArgument& argument, TypeKind element) {
  const bool integers = element == TypeKind::IntType || element == TypeKind::SymIntType;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&argument)) {
    if (integers) return IValue(*list);
    if (element != TypeKind::FloatType) return std::nullopt;
    return IValue(std::vector<double>(list->begin(), list->end()));
  }
  if (const auto* list = std::get_if<std::vector<double>>(&argument)) {
    return element == TypeKind::FloatType ? std::optional(IValue(*list)) : std::nullopt;
  }
  if (const auto* list = std::get_if<std::vector<bool>>(&argument)) {
    c10::List<bool> values;
    for (const bool value : *list) values.push_back(value);
    return element == TypeKind::BoolType ? std::optional(IValue(values)) : std::nullopt;
  }
  return std::nullopt;
}

// The schema's type without "may be missing".
const c10::Type& present_type(const c10::TypePtr& type) {
  if (type->kind() != TypeKind::OptionalType) return *type;
  return *type->expectRef<c10::OptionalType>().getElementType();
}

IValue sizes_now(const std::vector<GraphSize>& sizes, const GraphValues& values) {
  std::vector<std::int64_t> now;
  now.reserve(sizes.size());
  for (const GraphSize& size : sizes) {
    const auto* number = std::get_if<std::int64_t>(&size);
    now.push_back(number != nullptr ? *number
                                    : values[std::get<GraphReference>(size).value].toInt());
  }
  return now;
}

IValue tensors_now(const References& list, bool optional, const GraphValues& values) {
  if (!optional) {
    c10::List<at::Tensor> now;
    now.reserve(list.size());
    for (const auto& one : list) now.push_back(values[one.value().value].toTensor());
    return now;
  }
  c10::List<std::optional<at::Tensor>> now;
  for (const auto& one : list) {
    now.push_back(one ? std::optional(values[one->value].toTensor()) : std::nullopt);
  }
  return now;
}

}  // namespace

void order_arguments(GraphNode& node) {
  if (!node.target.starts_with("aten::")) return;  // of integers: two by place
  const auto found = find_schema(node.target);
  STOKER_INVARIANT(found.has_value(), "{} has no schema", node.target);
  std::vector<GraphNamedArgument> ordered;
  bool by_name = false;  // from the first one on that is missing
  for (const c10::Argument& wanted : found->schema().arguments()) {
    by_name = by_name || wanted.kwarg_only();
    const auto given = std::ranges::find(node.arguments, wanted.name(), &GraphNamedArgument::name);
    if (given == node.arguments.end()) {
      by_name = true;
      continue;
    }
    ordered.push_back({given->name, given->value, by_name});
  }
  node.arguments = std::move(ordered);
}

GraphCall::GraphCall(const GraphNode& node, const std::string& file)
    : operator_(find_operator(node, file)) {
  const auto& wanted = operator_.schema().arguments();
  std::vector<bool> used(node.arguments.size(), false);
  for (const c10::Argument& one : wanted) {
    const GraphArgument* given = nullptr;
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const std::string& name = node.arguments[i].name;
      const bool renamed = node.target == kView && name == "size" && one.name() == "shape";
      if (name != one.name() && !renamed) continue;
      if (used[i] || given != nullptr) refuse_call(file, node.target, "each argument once", name);
      used[i] = true;
      given = &node.arguments[i].value;
    }
    if (given != nullptr) {
      add(node, *given, one, file);
    } else if (one.default_value()) {
      stack_.push_back(*one.default_value());
    } else {
      refuse_call(file, node.target, fmt::format("the argument {}", one.name()), "none");
    }
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) refuse_call(file, node.target, "arguments of the schema", node.arguments[i].name);
  }
  if (node.outputs.size() != operator_.schema().returns().size()) {
    refuse_call(file, node.target, fmt::format("{} results", operator_.schema().returns().size()),
                fmt::format("{}", node.outputs.size()));
  }
}

void GraphCall::add(const GraphNode& node, const GraphArgument& argument,
                    const c10::Argument& wanted, const std::string& file) {
  const std::size_t place = stack_.size();
  stack_.emplace_back();  // none, until a value is put there
  const c10::Type& type = present_type(wanted.type());
  const TypeKind kind = type.kind();
  const bool may_miss = wanted.type()->kind() == TypeKind::OptionalType;
  const auto fail = [&] {
    refuse_call(file, node.target,
                fmt::format("{} as the argument {}", wanted.type()->str(), wanted.name()),
                std::string(kind_name(argument)));
  };
  if (std::holds_alternative<GraphNone>(argument)) {
    if (!may_miss) fail();
    return;
  }
  if (std::holds_alternative<GraphDevice>(argument)) {
    if (kind != TypeKind::DeviceObjType) fail();
    stack_[place] = c10::Device(c10::kCPU);
    devices_.push_back(place);
    return;
  }
  if (std::holds_alternative<GraphReference>(argument)) {
    const bool fits = kind == TypeKind::TensorType || kind == TypeKind::IntType ||
                      kind == TypeKind::SymIntType || kind == TypeKind::NumberType;
    if (!fits) fail();
    variables_.push_back({place, argument});
    return;
  }
  if (kind != TypeKind::ListType) {
    const auto constant = std::visit(ConstantMaker{kind}, argument);
    if (!constant) fail();
    stack_[place] = *constant;
    return;
  }
  const c10::TypePtr& element = type.expectRef<c10::ListType>().getElementType();
  if (std::holds_alternative<std::vector<GraphSize>>(argument)) {
    if (element->kind() != TypeKind::IntType && element->kind() != TypeKind::SymIntType) fail();
    variables_.push_back({place, argument});
    return;
  }
  if (const auto* list = std::get_if<References>(&argument)) {
    const bool optional = element->kind() == TypeKind::OptionalType;
    if (present_type(element).kind() != TypeKind::TensorType) fail();
    for (const auto& one : *list) {
      if (!one && !optional) fail();
    }
    variables_.push_back({place, argument, optional});
    return;
  }
  const auto constant = constant_list(argument, element->kind());
  if (!constant) fail();
  stack_[place] = *constant;
}

std::vector<IValue> GraphCall::operator()(const GraphValues& values) const {
  std::vector<IValue> stack = stack_;
  for (const Variable& one : variables_) {
    if (const auto* value = std::get_if<GraphReference>(&one.source)) {
      stack[one.place] = values[value->value];
    } else if (const auto* sizes = std::get_if<std::vector<GraphSize>>(&one.source)) {
      stack[one.place] = sizes_now(*sizes, values);
    } else {
      stack[one.place] =
          tensors_now(std::get<References>(one.source), one.optional_tensors, values);
    }
  }
  operator_.callBoxed(&stack);
  return stack;
}

void GraphCall::to(const at::Device& device) {
  for (const std::size_t place : devices_) stack_[place] = device;
}

std::size_t GraphCall::place_of(const char* name) const {
  const auto place = operator_.schema().argumentIndexWithName(name);
  STOKER_INVARIANT(place, "{} has no argument {}", operator_.schema().name(), name);
  return static_cast<std::size_t>(*place);
}

void GraphCall::set_constant(const char* name, const IValue& value) {
  stack_[place_of(name)] = value;
}

IValue GraphCall::argument(std::size_t place, const GraphValues& values) const {
  for (const Variable& one : variables_) {
    if (one.place != place) continue;
    const auto* value = std::get_if<GraphReference>(&one.source);
    STOKER_INVARIANT(value != nullptr, "argument {} is a list", place);
    return values[value->value];
  }
  return stack_[place];
}

}  // namespace stoker
