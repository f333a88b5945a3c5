#include "stoker/nn/onnx/onnx_export.h"

#include <array>
#include <span>
#include <vector>

#include "stoker/io/onnx.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/timm/timm_folder.h"

namespace stoker {
namespace {

// What predict shows, from the network's outputs. A classifier's stay logits, since readers apply
// their own softmax.
void add_output(OnnxGraph& graph, const OnnxValue& outputs, const ModelCard& card,
                std::span<const std::int64_t> shape) {
  if (card.task == Task::kClassify) return graph.output("logits", outputs, shape);
  if (card.task == Task::kMultilabel) {
    return graph.output("probabilities", graph.sigmoid(outputs), shape);
  }
  const auto row = [&](const char* name, const std::vector<double>& values) {
    return graph.constant(name, std::vector<float>(values.begin(), values.end()), shape);
  };
  const OnnxValue scaled = graph.multiply(outputs, row("target_std", card.target_std));
  graph.output("predictions", graph.add(scaled, row("target_mean", card.target_mean)), shape);
}

OnnxGraph graph_of(const Model& model, const ModelCard& card) {
  OnnxGraph graph(model.architecture());
  const ImageShape& image = model.input().image;
  const std::array<std::int64_t, 3> pixels = {image.channels, image.height, image.width};
  const std::array<std::int64_t, 1> classes = {model.input().classes};
  const OnnxValue outputs = model.append_nodes(graph, graph.input("pixels", pixels));
  add_output(graph, outputs, card, classes);
  for (const auto& [key, value] : card_metadata(card)) graph.metadata(key, value);
  const std::string colours = image.channels == 1 ? "grey" : image.channels == 3 ? "RGB" : "RGBA";
  graph.metadata("stoker.pixels", colours + (image.depth == 8 ? ", (value / 255 - mean) / std"
                                                              : ", (value / 65535 - mean) / std"));
  if (!card.preprocessing.framing.empty()) {
    graph.metadata("stoker.resize", framing_filter(card.preprocessing.framing) +
                                        " with antialiasing, as Pillow 13 does it");
  }
  return graph;
}

}  // namespace

void write_onnx(const std::filesystem::path& path, const Model& model, const ModelCard& card) {
  graph_of(model, card).write(path);
}

std::string encode_onnx(const Model& model, const ModelCard& card) {
  return graph_of(model, card).encode();
}

}  // namespace stoker
