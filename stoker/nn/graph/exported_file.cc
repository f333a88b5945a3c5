#include "stoker/nn/graph/exported_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "stoker/io/exported_program_write.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/graph/graph_call.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

// What training with the file takes (nn/graph/exported_facts.h).
std::string facts_of(const ModelCard& card) {
  std::string name = card.architecture;
  if (name.starts_with(kGraphPrefix)) name = name.substr(std::string_view(kGraphPrefix).size());
  return nlohmann::json{{"name", name},
                        {"size", {card.input.image.height, card.input.image.width}},
                        {"mean", card.preprocessing.mean},
                        {"std", card.preprocessing.deviation},
                        {"classes", card.class_names}}
      .dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
}

std::vector<ExportedValue> values_of(const InferenceGraph& network,
                                     const std::vector<TracedValue>& traced) {
  std::vector<ExportedValue> values;
  for (std::size_t i = 0; i < traced.size(); ++i) {
    values.push_back({.is_tensor = network.graph.values[i].is_tensor,
                      .dtype = dtype_of(traced[i].type),
                      .sizes = traced[i].sizes,
                      .strides = traced[i].strides,
                      .number = traced[i].number});
  }
  return values;
}

}  // namespace

void write_exported_network(const std::filesystem::path& path, const Model& model,
                            const ModelCard& card) {
  InferenceGraph network = inference_graph(model, card);
  const std::vector<TracedValue> traced = trace_values(network, model.input().image);
  for (GraphNode& node : network.graph.nodes) order_arguments(node);
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < network.tensors.size(); ++i) {
    const bool images = network.graph.inputs[i].kind == GraphInput::Kind::kImages;
    if (!images) named.push_back({network.graph.inputs[i].name, network.tensors[i]});
  }
  const FileTensors rows(named);
  std::vector<TensorView> views(network.tensors.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const bool images = network.graph.inputs[i].kind == GraphInput::Kind::kImages;
    if (!images) views[i] = rows.views()[next++];
  }
  write_exported_program(path, {.graph = network.graph,
                                .values = values_of(network, traced),
                                .tensors = views,
                                .facts = facts_of(card)});
}

}  // namespace stoker
