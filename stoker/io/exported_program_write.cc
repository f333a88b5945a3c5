#include "stoker/io/exported_program_write.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/io/detail/exported_arguments.h"
#include "stoker/io/detail/strided_rows.h"
#include "stoker/io/detail/zip_archive.h"

namespace stoker {
namespace {

using Json = nlohmann::json;
using InputKind = GraphInput::Kind;

constexpr const char* kRoot = "network/";
constexpr const char* kBatch = "s0";  // the symbol of the number of images

Json tagged_json(const char* tag, Json value) { return Json{{tag, std::move(value)}}; }
Json named(const std::string& name) { return Json{{"name", name}}; }

// A size as torch.export writes it: a number, or an expression of sympy.
Json size_json(const TracedSize& size) {
  if (!size.grows()) return tagged_json("as_int", size.fixed);
  constexpr std::int64_t kHint = 2;
  std::string text = fmt::format("Symbol('{}', positive=True, integer=True)", kBatch);
  if (size.per_sample != 1) text = fmt::format("Mul(Integer({}), {})", size.per_sample, text);
  if (size.fixed != 0) text = fmt::format("Add(Integer({}), {})", size.fixed, text);
  const Json hint = tagged_json("as_int", size.fixed + kHint * size.per_sample);
  return tagged_json("as_expr", {{"expr_str", text}, {"hint", hint}});
}

Json sizes_json(const std::vector<TracedSize>& sizes) {
  Json list = Json::array();
  for (const TracedSize& size : sizes) list.push_back(size_json(size));
  return list;
}

Json device_json() { return {{"type", "cpu"}, {"index", nullptr}}; }

Json tensor_json(DType dtype, Json sizes, Json strides, bool learns) {
  return {{"dtype", detail::type_number(dtype)},
          {"sizes", std::move(sizes)},
          {"requires_grad", learns},
          {"device", device_json()},
          {"strides", std::move(strides)},
          {"storage_offset", tagged_json("as_int", 0)},
          {"layout", detail::kStridedLayout}};
}

// "torch.ops.aten.conv2d.default" of "aten::conv2d"; integers have Python's operators.
std::string python_target(const std::string& target) {
  constexpr std::string_view kSpace = "aten::";
  if (!target.starts_with(kSpace)) return "_operator." + target;
  std::string name = target.substr(kSpace.size());
  if (name.find('.') == std::string::npos) name += ".default";
  return "torch.ops.aten." + name;
}

class GraphWriter {
 public:
  explicit GraphWriter(const ExportedParts& parts) : parts_(parts), names_(parts.values.size()) {
    // Python's order: parameters, buffers, constants, and the images last.
    for (std::size_t i = 0; i < parts.graph.inputs.size(); ++i) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return parts.graph.inputs[i].kind; });
    for (const std::size_t i : order_) {
      const GraphInput& input = parts.graph.inputs[i];
      constexpr const char* kPrefixes[] = {"p_", "b_", "b_", ""};
      const bool images = input.kind == InputKind::kImages;
      set_name(input.value,
               images ? "pixels" : kPrefixes[static_cast<std::size_t>(input.kind)] + input.name);
    }
  }

  [[nodiscard]] const std::vector<std::size_t>& order() const noexcept { return order_; }

  std::string write() {
    Json nodes = Json::array();
    for (const GraphNode& node : parts_.graph.nodes) nodes.push_back(node_json(node));
    Json graph = {{"inputs", Json::array()},
                  {"outputs", Json::array({reference_json(parts_.graph.output)})},
                  {"nodes", std::move(nodes)},
                  {"tensor_values", Json::object()},
                  {"sym_int_values", Json::object()},
                  {"sym_bool_values", Json::object()},
                  {"sym_float_values", Json::object()},
                  {"custom_obj_values", Json::object()},
                  {"is_single_tensor_return", false}};
    Json specs = Json::array();
    for (const std::size_t i : order_) {
      graph["inputs"].push_back(reference_json(parts_.graph.inputs[i].value));
      specs.push_back(spec_json(parts_.graph.inputs[i]));
    }
    add_values(graph);
    const Json output = {{"arg", reference_json(parts_.graph.output)}};
    const Json signature = {{"input_specs", std::move(specs)},
                            {"output_specs", Json::array({tagged_json("user_output", output)})}};
    const Json model = {{"graph_module",
                         {{"graph", std::move(graph)},
                          {"signature", signature},
                          {"module_call_graph", call_graph()},
                          {"metadata", Json::object()},
                          {"treespec_namedtuple_fields", Json::object()}}},
                        {"opset_version", {{"aten", 10}}},
                        {"range_constraints", {{kBatch, {{"min_val", 1}, {"max_val", 65536}}}}},
                        {"schema_version", {{"major", 8}, {"minor", 20}}},
                        {"verifiers", {"TRAINING"}},
                        {"torch_version", ""},
                        {"guards_code", Json::array()}};
    return model.dump();
  }

 private:
  // Python's names, none twice.
  void set_name(GraphReference value, std::string name) {
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    names_[value.value] = fresh_name(name);
  }
  std::string fresh_name(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }
  [[nodiscard]] const std::string& name(GraphReference value) const { return names_[value.value]; }

  [[nodiscard]] Json reference_json(GraphReference value) const {
    if (parts_.graph.values[value.value].is_tensor) {
      return tagged_json("as_tensor", named(name(value)));
    }
    return tagged_json("as_sym_int", {{"as_name", name(value)}});
  }

  struct ArgumentWriter {
    const GraphWriter& graph;

    Json operator()(GraphNone) const { return tagged_json("as_none", true); }
    Json operator()(GraphReference value) const { return graph.reference_json(value); }
    Json operator()(bool value) const { return tagged_json("as_bool", value); }
    Json operator()(std::int64_t value) const { return tagged_json("as_int", value); }
    Json operator()(double value) const { return tagged_json("as_float", value); }
    Json operator()(const std::string& value) const { return tagged_json("as_string", value); }
    Json operator()(const std::vector<std::int64_t>& list) const {
      return tagged_json("as_ints", list);
    }
    Json operator()(const std::vector<double>& list) const {
      return tagged_json("as_floats", list);
    }
    Json operator()(const std::vector<bool>& list) const { return tagged_json("as_bools", list); }
    Json operator()(const std::vector<GraphSize>& list) const {
      Json sizes = Json::array();
      for (const GraphSize& size : list) {
        const auto* value = std::get_if<GraphReference>(&size);
        sizes.push_back(value != nullptr ? Json{{"as_name", graph.name(*value)}}
                                         : tagged_json("as_int", std::get<std::int64_t>(size)));
      }
      return tagged_json("as_sym_ints", sizes);
    }
    Json operator()(const std::vector<std::optional<GraphReference>>& list) const {
      const bool all = std::ranges::all_of(list, [](const auto& one) { return one.has_value(); });
      Json tensors = Json::array();
      for (const auto& one : list) {
        if (all) {
          tensors.push_back(named(graph.name(*one)));
        } else {
          tensors.push_back(one ? graph.reference_json(*one) : tagged_json("as_none", true));
        }
      }
      return tagged_json(all ? "as_tensors" : "as_optional_tensors", tensors);
    }
    Json operator()(DType value) const {
      return tagged_json("as_scalar_type", detail::type_number(value));
    }
    Json operator()(GraphDevice) const { return tagged_json("as_device", device_json()); }
    Json operator()(GraphStrided) const { return tagged_json("as_layout", detail::kStridedLayout); }
    Json operator()(GraphMemoryFormat value) const {
      return tagged_json("as_memory_format", detail::memory_format_number(value));
    }
  };

  Json node_json(const GraphNode& node) {
    constexpr int kByPlace = 1, kByName = 2;
    Json inputs = Json::array();
    for (const GraphNamedArgument& argument : node.arguments) {
      inputs.push_back({{"name", argument.name},
                        {"arg", std::visit(ArgumentWriter{*this}, argument.value)},
                        {"kind", argument.by_name ? kByName : kByPlace}});
    }
    const std::size_t begin = node.target.starts_with("aten::") ? 6 : 0;
    const std::string operation = node.target.substr(begin, node.target.find('.') - begin);
    Json outputs = Json::array();
    // Python takes several results apart by nodes of their own.
    const bool single = node.outputs.size() == 1 && !node.outputs[0].is_list;
    std::string own_name = single ? "" : fresh_name(operation);
    for (const GraphOutput& output : node.outputs) {
      for (const GraphReference& value : output.values) {
        set_name(value, single ? operation : "getitem");
        if (single) own_name = name(value);
      }
      if (output.is_list) {
        Json list = Json::array();
        for (const GraphReference& value : output.values) list.push_back(named(name(value)));
        outputs.push_back(tagged_json("as_tensors", list));
      } else if (output.values.empty()) {
        outputs.push_back(tagged_json("as_none", true));
      } else {
        outputs.push_back(reference_json(output.values[0]));
      }
    }
    const std::string stack =
        fmt::format("L__self__,,torch.nn.Module;L__self__{0},{0},torch.nn.Module", node.module);
    return {{"target", python_target(node.target)},   {"inputs", std::move(inputs)},
            {"outputs", std::move(outputs)},          {"metadata", {{"nn_module_stack", stack}}},
            {"is_hop_single_tensor_return", nullptr}, {"name", own_name}};
  }

  [[nodiscard]] Json spec_json(const GraphInput& input) const {
    const Json argument = named(name(input.value));
    switch (input.kind) {
      case InputKind::kImages:
        return tagged_json("user_input", {{"arg", reference_json(input.value)}});
      case InputKind::kParameter:
        return tagged_json("parameter", {{"arg", argument}, {"parameter_name", input.name}});
      case InputKind::kBuffer:
      case InputKind::kConstant:
        break;
    }
    return tagged_json("buffer", {{"arg", argument},
                                  {"buffer_name", input.name},
                                  {"persistent", input.kind == InputKind::kBuffer}});
  }

  void add_values(Json& graph) const {
    std::set<std::uint32_t> parameters;
    for (const GraphInput& input : parts_.graph.inputs) {
      if (input.kind == InputKind::kParameter) parameters.insert(input.value.value);
    }
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      if (names_[i].empty()) continue;  // of training alone
      const ExportedValue& value = parts_.values[i];
      if (!value.is_tensor) {
        graph["sym_int_values"][names_[i]] = size_json(value.number);
        continue;
      }
      graph["tensor_values"][names_[i]] = tensor_json(
          value.dtype, sizes_json(value.sizes), sizes_json(value.strides), parameters.contains(i));
    }
  }

  // One argument, one result, for Python's pytree.
  static Json call_graph() {
    const Json leaf = {{"type", nullptr}, {"context", nullptr}, {"children_spec", Json::array()}};
    const auto node = [](const char* type, const char* context, Json children) {
      return Json{{"type", type}, {"context", context}, {"children_spec", std::move(children)}};
    };
    const Json in = node("builtins.tuple", "null",
                         Json::array({node("builtins.tuple", "null", Json::array({leaf})),
                                      node("builtins.dict", "[]", Json::array())}));
    const auto spec = [](const Json& tree) { return Json::array({1, tree}).dump(); };
    const Json signature = {{"inputs", Json::array()},
                            {"outputs", Json::array()},
                            {"in_spec", spec(in)},
                            {"out_spec", spec(leaf)},
                            {"forward_arg_names", {"pixels"}}};
    return Json::array({Json{{"fqn", ""}, {"signature", signature}}});
  }

  const ExportedParts& parts_;
  std::vector<std::string> names_;  // of values
  std::set<std::string> taken_;
  std::vector<std::size_t> order_;  // of inputs
};

Json stored_json(const TensorView& tensor, const std::string& path, bool is_parameter) {
  const auto list = [](const std::vector<std::int64_t>& numbers) {
    Json all = Json::array();
    for (const std::int64_t number : numbers) all.push_back(tagged_json("as_int", number));
    return all;
  };
  return {{"path_name", path},
          {"is_param", is_parameter},
          {"use_pickle", false},
          {"tensor_meta", tensor_json(tensor.dtype, list(tensor.shape),
                                      list(detail::row_strides(tensor.shape)), is_parameter)}};
}

}  // namespace

void write_exported_program(const std::filesystem::path& path, const ExportedParts& parts) {
  AtomicFile file(path, "exported network");
  GraphWriter graph(parts);
  const std::string model = graph.write();
  const auto bytes_of = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  std::vector<detail::ZipInput> records;
  const auto add = [&](const std::string& name, std::span<const std::byte> bytes) {
    records.push_back({kRoot + name, bytes});
  };
  Json weights = Json::object(), constants = Json::object();
  for (const std::size_t i : graph.order()) {
    const GraphInput& input = parts.graph.inputs[i];
    if (input.kind == InputKind::kImages) continue;
    const bool constant = input.kind == InputKind::kConstant;
    Json& config = constant ? constants : weights;
    const std::string record = fmt::format("{}_{}", constant ? "tensor" : "weight", config.size());
    config[input.name] = stored_json(parts.tensors[i], record, input.kind == InputKind::kParameter);
    add(fmt::format("data/{}/{}", constant ? "constants" : "weights", record),
        parts.tensors[i].bytes);
  }
  const std::string weights_text = Json{{"config", weights}}.dump(),
                    constants_text = Json{{"config", constants}}.dump();
  add("data/weights/model_weights_config.json", bytes_of(weights_text));
  add("data/constants/model_constants_config.json", bytes_of(constants_text));
  add("models/model.json", bytes_of(model));
  add("data/sample_inputs/model.pt", {});
  add("extra/stoker.json", bytes_of(parts.facts));
  add("archive_format", bytes_of("pt2"));
  add("archive_version", bytes_of("0"));
  add(".data/version", bytes_of("6\n"));
  add("byteorder", bytes_of("little"));
  detail::write_zip(records, [&](std::span<const std::byte> part) { file.write(part); });
  file.commit();
}

}  // namespace stoker
