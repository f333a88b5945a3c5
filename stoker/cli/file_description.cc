#include "stoker/cli/file_description.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/plain_text.h"
#include "stoker/io/exported_program.h"
#include "stoker/io/onnx_file.h"
#include "stoker/io/weights_file.h"
#include "stoker/nn/graph/graph_summary.h"
#include "stoker/nn/networks/weights_architecture.h"
#include "stoker/nn/timm/timm_folder.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

void print_line(std::string_view name, std::string_view value) {
  fmt::print("{:<22} {}\n", plain_text(name), value);
}

template <typename Sizes>
std::string sizes_text(const Sizes& sizes) {
  return plain_text(fmt::format("({})", fmt::join(sizes, ", ")));
}

// ---- Weights.

struct ValueCounts {
  std::uint64_t parameters = 0, buffers = 0;
};

// The built-in network that the weights are of. A config.json says it for sure.
std::optional<std::string> network_of(const WeightsFile& file,
                                      const std::optional<TimmConfig>& config) {
  if (!config) return known_architecture(file);
  const TimmFamily* family = find_family_of_timm(config->architecture);
  return family != nullptr ? std::optional(std::string(family->architecture)) : std::nullopt;
}

// Running statistics and counters have these names in PyTorch's networks and in ours.
ValueCounts count_values(const WeightsFile& file) {
  ValueCounts counts;
  for (const TensorView& tensor : file.tensors()) {
    const std::string_view name = tensor.name;
    const bool is_buffer = name.ends_with("running_mean") || name.ends_with("running_var") ||
                           name.ends_with("num_batches_tracked");
    (is_buffer ? counts.buffers : counts.parameters) +=
        tensor.bytes.size() / dtype_bytes(tensor.dtype);
  }
  return counts;
}

// What timm's config.json beside the weights says.
Json config_json(const TimmConfig& config) {
  return {{"architecture", config.architecture},
          {"classes", config.classes},
          {"image", config.image},
          {"mean", config.mean},
          {"std", config.deviation},
          {"interpolation", config.interpolation},
          {"crop_pct", config.crop},
          {"crop_mode", config.crop_mode}};
}

void print_weights_json(const WeightsFile& file, const std::optional<TimmConfig>& config) {
  const ValueCounts counts = count_values(file);
  const auto network = network_of(file, config);
  Json json = {{"format", file.format() == WeightsFormat::kTorch ? "pth" : "safetensors"},
               {"network", network ? Json(*network) : Json()},
               {"values", counts.parameters + counts.buffers},
               {"parameters", counts.parameters},
               {"metadata", file.metadata()}};
  if (config) json["config"] = config_json(*config);
  json["tensors"] = Json::array();
  for (const TensorView& tensor : file.tensors()) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}});
  }
  fmt::print("{}\n", json_text(json));
}

void print_config(const TimmConfig& config) {
  print_line("timm's name", config.architecture);
  print_line("classes", fmt::format("{}", config.classes));
  print_line("image", sizes_text(config.image) + ": channels, height, width");
  print_line("mean", sizes_text(config.mean));
  print_line("standard deviation", sizes_text(config.deviation));
  print_line("interpolation", plain_text(config.interpolation));
  print_line("crop", fmt::format("{}, {}", config.crop, plain_text(config.crop_mode)));
}

void print_weights(const WeightsFile& file, const std::optional<TimmConfig>& config) {
  if (config) print_config(*config);
  for (const auto& [key, value] : file.metadata()) print_line(key, plain_text(value));
  if (const auto network = network_of(file, config)) print_line("network", plain_text(*network));
  const ValueCounts counts = count_values(file);
  print_line("parameters", counts.buffers == 0 ? fmt::format("{}", counts.parameters)
                                               : fmt::format("{}, and {} running statistics",
                                                             counts.parameters, counts.buffers));
  print_line("values", fmt::format("{} in {} tensors\n", counts.parameters + counts.buffers,
                                   file.tensors().size()));
  for (const TensorView& tensor : file.tensors()) {
    fmt::print("{:<5} {:<20} {}\n", dtype_name(tensor.dtype), sizes_text(tensor.shape),
               plain_text(tensor.name));
  }
}

// ---- Exported networks.

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

void print_graph_json(const GraphSummary& summary) {
  const ExportedFacts& facts = summary.facts;
  Json json = {{"format", "pt2"},
               {"name", facts.name},
               {"library", facts.library},
               {"image", summary.image},
               {"classes", or_null(summary.classes)},
               {"mean", facts.mean},
               {"std", facts.deviation},
               {"interpolation", facts.interpolation},
               {"crop", or_null(facts.crop)},
               {"parameters", summary.parameters()},
               {"buffers", summary.buffers()},
               {"multiply_adds", or_null(summary.multiply_adds())}};
  json["stages"] = Json::array();
  for (const GraphSummary::Stage& stage : summary.stages) {
    json["stages"].push_back({{"name", stage.name},
                              {"output", or_null(stage.output)},
                              {"parameters", stage.parameters},
                              {"buffers", stage.buffers},
                              {"multiply_adds", or_null(stage.multiply_adds)}});
  }
  json["operators"] = Json::object();
  for (const auto& [name, count] : summary.operators) json["operators"][name] = count;
  fmt::print("{}\n", json_text(json));
}

std::string count_text(const std::optional<std::uint64_t>& count) {
  return count ? fmt::format("{}", *count) : "not known";
}

void print_stages(const GraphSummary& summary) {
  std::size_t width = std::string_view("stage").size();
  std::vector<std::string> names;
  for (const GraphSummary::Stage& stage : summary.stages) {
    names.push_back(plain_text(stage.name, 60));
    width = std::max(width, names.back().size());
  }
  fmt::print("\n{:<{}}  {:<18} {:>12} {:>15}\n", "stage", width, "output", "parameters",
             "multiply-adds");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const GraphSummary::Stage& stage = summary.stages[i];
    fmt::print("{:<{}}  {:<18} {:>12} {:>15}\n", names[i], width,
               stage.output ? sizes_text(*stage.output) : "not known", stage.parameters,
               count_text(stage.multiply_adds));
  }
}

void print_graph(const GraphSummary& summary) {
  const ExportedFacts& facts = summary.facts;
  print_line("network", facts.library.empty() ? plain_text(facts.name)
                                              : plain_text(facts.name + " of " + facts.library));
  if (!summary.image.empty()) {
    print_line("image", sizes_text(summary.image) + ": channels, height, width");
  }
  if (summary.classes) print_line("classes", fmt::format("{}", *summary.classes));
  if (!facts.mean.empty()) print_line("mean", sizes_text(facts.mean));
  if (!facts.deviation.empty()) print_line("standard deviation", sizes_text(facts.deviation));
  if (!facts.interpolation.empty()) print_line("interpolation", plain_text(facts.interpolation));
  if (facts.crop) print_line("crop", fmt::format("{}", *facts.crop));
  print_line("parameters",
             fmt::format("{}, and {} values of buffers", summary.parameters(), summary.buffers()));
  print_line("multiply-adds", count_text(summary.multiply_adds()) + " for an image");
  print_stages(summary);
  fmt::print("\n");
  for (const auto& [name, count] : summary.operators) fmt::print("{:>5}  {}\n", count, name);
}

// ---- ONNX.

void print_onnx_json(const OnnxFacts& facts) {
  Json json = {{"format", "onnx"},
               {"file_version", facts.file_version},
               {"producer", facts.producer},
               {"graph", facts.graph},
               {"opsets", facts.opsets}};
  for (const auto& [key, ports] :
       {std::pair("inputs", &facts.inputs), {"outputs", &facts.outputs}}) {
    json[key] = Json::array();
    for (const OnnxPort& port : *ports) {
      json[key].push_back({{"name", port.name}, {"dtype", port.type}, {"shape", port.shape}});
    }
  }
  json["nodes"] = facts.nodes();
  json["operators"] = facts.operators;
  json["parameters"] = facts.parameters();
  json["metadata"] = facts.metadata;
  json["tensors"] = Json::array();
  for (const OnnxTensorFacts& tensor : facts.tensors) {
    json["tensors"].push_back({{"name", tensor.name},
                               {"dtype", tensor.type},
                               {"shape", tensor.shape},
                               {"elsewhere", tensor.is_elsewhere}});
  }
  fmt::print("{}\n", json_text(json));
}

void print_onnx(const OnnxFacts& facts) {
  for (const auto& [key, value] : facts.metadata) print_line(key, plain_text(value));
  print_line("graph", plain_text(facts.graph));
  print_line("producer", plain_text(facts.producer));
  print_line("file version", fmt::format("{}", facts.file_version));
  for (const auto& [domain, version] : facts.opsets) {
    print_line("opset", domain.empty() ? fmt::format("{}", version)
                                       : fmt::format("{} of {}", version, plain_text(domain)));
  }
  for (const auto& [key, ports] : {std::pair("input", &facts.inputs), {"output", &facts.outputs}}) {
    for (const OnnxPort& port : *ports) {
      print_line(key,
                 fmt::format("{} {} {}", plain_text(port.name), port.type, sizes_text(port.shape)));
    }
  }
  print_line("parameters",
             fmt::format("{} in {} tensors", facts.parameters(),
                         std::ranges::count_if(facts.tensors, &OnnxTensorFacts::is_floating)));
  const auto elsewhere = std::ranges::count_if(facts.tensors, &OnnxTensorFacts::is_elsewhere);
  if (elsewhere > 0) print_line("in other files", fmt::format("{} tensors", elsewhere));
  print_line("nodes", fmt::format("{}\n", facts.nodes()));
  std::vector<std::pair<std::size_t, std::string>> operators;
  for (const auto& [name, count] : facts.operators) operators.emplace_back(count, name);
  std::ranges::stable_sort(operators, std::greater(), [](const auto& one) { return one.first; });
  for (const auto& [count, name] : operators) fmt::print("{:>5}  {}\n", count, plain_text(name));
}

}  // namespace

void describe_file(const std::filesystem::path& path, bool as_json) {
  if (path.extension() == ".onnx") {
    const OnnxFacts facts = read_onnx_facts(path);
    as_json ? print_onnx_json(facts) : print_onnx(facts);
    return;
  }
  if (path.extension() == ".pt2") {
    const ExportedProgram program(path);
    const GraphSummary summary = summarise(program, path);
    as_json ? print_graph_json(summary) : print_graph(summary);
    return;
  }
  const WeightsFile file(path);
  const auto beside = timm_config_of(path);
  const auto config = beside ? std::optional(read_timm_config(*beside)) : std::nullopt;
  as_json ? print_weights_json(file, config) : print_weights(file, config);
}

}  // namespace stoker
