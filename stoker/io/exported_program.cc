#include "stoker/io/exported_program.h"

#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/io/detail/exported_arguments.h"
#include "stoker/io/detail/exported_errors.h"
#include "stoker/io/detail/exported_shapes.h"
#include "stoker/io/detail/limited_json.h"
#include "stoker/io/detail/safetensors_header.h"
#include "stoker/io/detail/strided_rows.h"
#include "stoker/io/detail/text.h"
#include "stoker/io/detail/zip_archive.h"
#include "stoker/io/exported_operators.h"

namespace stoker {
namespace {

using detail::fail_export;
using detail::GraphNames;
using detail::list_member;
using detail::member;
using detail::printable;
using detail::tagged;
using detail::text_member;
using detail::ZipArchive;
using detail::ZipRecord;
using Json = nlohmann::json;

// ---- The graph.

// "torch.ops.aten.add_.Tensor" as "aten::add_.Tensor", "_operator.mul" as "mul".
std::string read_target(const std::string& text, const std::string& file) {
  constexpr std::string_view kOps = "torch.ops.aten.", kPython = "_operator.",
                             kDefault = ".default";
  std::string target = text;
  if (text.starts_with(kPython)) {
    target = text.substr(kPython.size());
    if (is_integer_operator(target)) return target;
  } else if (text.starts_with(kOps)) {
    target = "aten::" + text.substr(kOps.size());
    if (target.ends_with(kDefault)) target.resize(target.size() - kDefault.size());
    if (is_exported_operator(target)) return target;
  }
  fail_export(file, "operators that Stoker knows", printable(text),
              "Nothing was executed. Another version of the network may do without this operator");
}

// "L__self__,,timm.models.resnet.ResNet;L__self__conv1,conv1,torch.nn.modules.conv.Conv2d": the
// path of the last module.
std::string module_of(const Json& node) {
  const auto metadata = node.find("metadata");
  if (metadata == node.end() || !metadata->is_object()) return {};
  const auto stack = metadata->find("nn_module_stack");
  if (stack == metadata->end() || !stack->is_string()) return {};
  const std::string& text = stack->get_ref<const std::string&>();
  const std::size_t last = text.rfind(';') == std::string::npos ? 0 : text.rfind(';') + 1;
  const std::size_t begin = text.find(',', last);
  if (begin == std::string::npos) return {};
  const std::size_t end = text.find(',', begin + 1);
  return end == std::string::npos ? std::string() : text.substr(begin + 1, end - begin - 1);
}

GraphNode read_node(const Json& json, GraphNames& names, const std::string& file) {
  GraphNode node{.target = read_target(text_member(json, "target", file, "a node"), file),
                 .module = module_of(json)};
  for (const Json& input : list_member(json, "inputs", file, node.target)) {
    const std::string& name = text_member(input, "name", file, node.target);
    const std::string where = fmt::format("{} of {}", printable(name), node.target);
    constexpr int kByName = 2;
    const auto kind = input.find("kind");
    node.arguments.push_back(
        {name, detail::read_argument(member(input, "arg", file, where), names, file, where),
         kind != input.end() && *kind == kByName});
  }
  // After the arguments: a node cannot use what it makes.
  for (const Json& output : list_member(json, "outputs", file, node.target)) {
    node.outputs.push_back(detail::read_output(output, names, file, "output of " + node.target));
  }
  return node;
}

GraphInput read_input(const Json& json, GraphNames& names, const std::string& file) {
  using Kind = GraphInput::Kind;
  const auto [tag, value] = tagged(json, file, "an input");
  const Json& argument = member(value, "arg", file, tag);
  if (tag == "user_input") {
    const auto [kind, tensor] = tagged(argument, file, tag);
    if (kind != "as_tensor") {
      fail_export(file, "a network of images alone", "another argument",
                  "Export a network whose forward() takes one tensor");
    }
    return {Kind::kImages, names.define(text_member(tensor, "name", file, tag), true)};
  }
  const std::string& graph_name = text_member(argument, "name", file, tag);
  if (tag == "parameter") {
    return {Kind::kParameter, names.define(graph_name, true),
            text_member(value, "parameter_name", file, tag)};
  }
  if (tag == "tensor_constant") {
    return {Kind::kConstant, names.define(graph_name, true),
            text_member(value, "tensor_constant_name", file, tag)};
  }
  if (tag != "buffer") {
    fail_export(file, "parameters, buffers, constants and images as inputs", printable(tag));
  }
  const Json& persistent = member(value, "persistent", file, tag);
  return {persistent == false ? Kind::kConstant : Kind::kBuffer, names.define(graph_name, true),
          text_member(value, "buffer_name", file, tag)};
}

// Optimisers would step twice by a tensor that is there twice.
void check_inputs(const ExportedGraph& graph, const std::string& file) {
  std::set<std::string_view> names;
  std::size_t images = 0;
  for (const GraphInput& input : graph.inputs) {
    if (input.kind == GraphInput::Kind::kImages) {
      ++images;
    } else if (input.name.empty() || !names.insert(input.name).second) {
      fail_export(file, "a name for each tensor, none twice", printable(input.name));
    }
  }
  if (images == 1) return;
  fail_export(file, "a network of images alone", fmt::format("{} tensors as arguments", images),
              "Export a network whose forward() takes one tensor");
}

GraphReference read_graph_output(const Json& signature, const GraphNames& names,
                                 const std::string& file) {
  const Json& specs = list_member(signature, "output_specs", file, "the signature");
  if (specs.size() != 1) {
    fail_export(file, "one output, the logits", fmt::format("{}", specs.size()),
                "Export the network without auxiliary outputs, e.g. aux_logits=False");
  }
  const auto [tag, value] = tagged(specs[0], file, "the output");
  if (tag != "user_output") fail_export(file, "a tensor as output", printable(tag));
  const auto [kind, tensor] = tagged(member(value, "arg", file, tag), file, tag);
  if (kind != "as_tensor") fail_export(file, "a tensor as output", printable(kind));
  return names.tensor(text_member(tensor, "name", file, tag));
}

// Stack traces and guards name code and files of whoever exported the network.
void remove_traces(Json& json) {
  json["guards_code"] = Json::array();
  for (Json& node : json["graph_module"]["graph"]["nodes"]) {
    Json kept = Json::object();
    const auto metadata = node.find("metadata");
    if (metadata != node.end() && metadata->is_object() && metadata->contains("nn_module_stack")) {
      kept["nn_module_stack"] = (*metadata)["nn_module_stack"];
    }
    node["metadata"] = std::move(kept);
  }
}

// ---- The archive.

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Archive {
  const ZipArchive& zip;
  std::span<const std::byte> bytes;
  const std::string& file;
  std::string root;  // "resnet18/"

  [[nodiscard]] std::span<const std::byte> read(const std::string& name) const {
    const ZipRecord* record = zip.find(root + name);
    if (record == nullptr) {
      fail_export(file, fmt::format("a record {}", printable(root + name)), "none");
    }
    detail::check_zip_record(*record, bytes, file);
    return record->bytes;
  }
  [[nodiscard]] bool has(const std::string& name) const { return zip.find(root + name) != nullptr; }
};

std::string extra_of(const Archive& archive) {
  constexpr const char* kName = "extra/stoker.json";
  return archive.has(kName) ? std::string(as_text(archive.read(kName))) : std::string();
}

// What is before /models/model.json; the only one.
std::string find_root(const ZipArchive& zip, const std::string& file) {
  constexpr std::string_view kEnding = "/models/model.json";
  std::string root;
  for (const ZipRecord& record : zip.records()) {
    if (!record.name.ends_with(kEnding)) continue;
    if (!root.empty()) fail_export(file, "one models/model.json", "two");
    root = record.name.substr(0, record.name.size() - kEnding.size() + 1);
  }
  if (root.empty()) {
    fail_export(file, "an archive with models/model.json", "one without",
                "Is it a file of torch.export.save?");
  }
  return root;
}

std::vector<std::int64_t> read_sizes(const Json& list, const std::string& file,
                                     const std::string& where) {
  std::vector<std::int64_t> sizes;
  for (const Json& one : list) {
    const auto [tag, value] = tagged(one, file, where);
    if (tag != "as_int" || !value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX) {
      fail_export(file, fmt::format("sizes from 0 on for {}", where), printable(one.dump()));
    }
    if (sizes.size() == detail::kMaxDimensions) {
      fail_export(file, fmt::format("at most {} sizes for {}", detail::kMaxDimensions, where),
                  "more");
    }
    sizes.push_back(value.get<std::int64_t>());
  }
  return sizes;
}

// Where a tensor of the archive lies, by model_weights_config.json or its like.
class TensorTable {
 public:
  TensorTable(const Archive& archive, const std::string& folder, const std::string& config)
      : archive_(archive), folder_(folder) {
    if (!archive.has(folder + config)) return;
    config_ =
        detail::parse_limited_json(as_text(archive.read(folder + config)), config, archive.file);
    if (!config_.is_object() || !config_.contains("config") || !config_["config"].is_object()) {
      fail_export(archive.file, fmt::format("an object in {}", config), "something else");
    }
  }

  [[nodiscard]] bool has(const std::string& name) const {
    return config_.is_object() && config_["config"].contains(name);
  }

  TensorView make(const std::string& name, detail::StridedRows& rows) {
    const std::string& file = archive_.file;
    const std::string where = printable(name);
    const Json& entry = config_["config"][name];
    if (member(entry, "use_pickle", file, where) != false) {
      fail_export(file, "raw tensors", fmt::format("{} as a pickle", where),
                  "Nothing in the file was executed. Export the network with plain tensors");
    }
    const Json& meta = member(entry, "tensor_meta", file, where);
    detail::StridedTensor tensor{
        .dtype = detail::read_type(member(meta, "dtype", file, where), file, where),
        .shape = read_sizes(list_member(meta, "sizes", file, where), file, where),
        .strides = read_sizes(list_member(meta, "strides", file, where), file, where),
        .offset =
            read_sizes(Json::array({member(meta, "storage_offset", file, where)}), file, where)[0],
        .storage = storage_of(text_member(entry, "path_name", file, where), where)};
    const auto bytes = tensor_bytes(tensor.dtype, tensor.shape);
    if (tensor.shape.size() != tensor.strides.size() || !bytes) {
      fail_export(file, fmt::format("a stride for each size of {}", where),
                  fmt::format("the shape ({})", fmt::join(tensor.shape, ", ")));
    }
    tensor.bytes = *bytes;
    std::span<const std::byte> row;
    if (rows.make(tensor, row) != detail::StridedRows::Fault::kNone) {
      fail_export(file, fmt::format("{} within its {} bytes", where, tensor.storage.size()),
                  fmt::format("the shape ({}), strides ({})", fmt::join(tensor.shape, ", "),
                              fmt::join(tensor.strides, ", ")));
    }
    return {.name = name, .dtype = tensor.dtype, .shape = tensor.shape, .bytes = row};
  }

 private:
  // Each record once: tensors that share their values would be trained as two.
  std::span<const std::byte> storage_of(const std::string& path, const std::string& where) {
    if (!used_.insert(path).second) {
      fail_export(archive_.file, "tensors with values of their own",
                  fmt::format("{} shares its with another", where));
    }
    return archive_.read(folder_ + path);
  }

  const Archive& archive_;
  std::string folder_;
  Json config_;
  std::set<std::string> used_;
};

}  // namespace

std::string_view kind_name(const GraphArgument& argument) {
  constexpr std::array<std::string_view, std::variant_size_v<GraphArgument>> kNames = {
      "none",
      "a value",
      "a boolean",
      "an integer",
      "a number",
      "a text",
      "a list of integers",
      "a list of numbers",
      "a list of booleans",
      "a list of sizes",
      "a list of tensors",
      "a type",
      "a device",
      "a layout",
      "a memory format"};
  return kNames[argument.index()];
}

ExportedGraph parse_exported_graph(std::string_view json, const std::string& file) {
  Json model = detail::parse_limited_json(json, "the exported graph", file);
  const Json& module = member(model, "graph_module", file, "the model");
  const Json& signature = member(module, "signature", file, "graph_module");
  const Json& graph = member(module, "graph", file, "graph_module");
  ExportedGraph result;
  GraphNames names(result.values, file);
  for (const Json& input : list_member(signature, "input_specs", file, "the signature")) {
    result.inputs.push_back(read_input(input, names, file));
  }
  check_inputs(result, file);
  for (const Json& node : list_member(graph, "nodes", file, "the graph")) {
    result.nodes.push_back(read_node(node, names, file));
  }
  result.output = read_graph_output(signature, names, file);
  detail::read_claimed_shapes(graph, result.values);
  remove_traces(model);
  result.text = model.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return result;
}

ExportedProgram parse_exported_program(std::span<const std::byte> bytes, const std::string& name) {
  const ZipArchive zip(bytes, name);
  const Archive archive{zip, bytes, name, find_root(zip, name)};
  if (archive.has("byteorder") && as_text(archive.read("byteorder")) != "little") {
    fail_export(name, "values in little-endian order", "another");
  }
  ExportedProgram program;
  program.graph_ = parse_exported_graph(as_text(archive.read("models/model.json")), name);
  program.facts_ = extra_of(archive);
  TensorTable weights(archive, "data/weights/", "model_weights_config.json");
  TensorTable constants(archive, "data/constants/", "model_constants_config.json");
  detail::StridedRows rows(4 * bytes.size() + (1 << 20));
  for (const GraphInput& input : program.graph_.inputs) {
    if (input.kind == GraphInput::Kind::kImages) continue;
    TensorTable& table = weights.has(input.name) ? weights : constants;
    if (!table.has(input.name)) {
      fail_export(name, fmt::format("values of {}", printable(input.name)), "none");
    }
    program.tensors_.push_back({table.make(input.name, rows), input.kind});
  }
  program.copies_ = rows.take_copies();
  return program;
}

std::string read_exported_extra(const std::filesystem::path& path) {
  const FileBytes file(path);
  const std::string name = path.string();
  const ZipArchive zip(file.bytes(), name);
  return extra_of({zip, file.bytes(), name, find_root(zip, name)});
}

ExportedProgram::ExportedProgram(const std::filesystem::path& path) {
  FileBytes file(path);
  *this = parse_exported_program(file.bytes(), path.string());
  file_ = std::move(file);
}

}  // namespace stoker
