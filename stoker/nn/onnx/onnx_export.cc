#include "stoker/nn/onnx/onnx_export.h"

#include <array>

#include "stoker/io/onnx.h"
#include "stoker/nn/model_file.h"

namespace stoker {
namespace {

OnnxGraph graph_of(const Model& model, const ModelCard& card) {
  OnnxGraph graph(model.architecture());
  const ImageShape& image = model.input().image;
  const std::array<std::int64_t, 3> pixels = {image.channels, image.height, image.width};
  const std::array<std::int64_t, 1> classes = {model.input().classes};
  const OnnxValue logits = model.append_nodes(graph, graph.input("pixels", pixels));
  graph.output("logits", logits, classes);
  for (const auto& [key, value] : card_metadata(card)) graph.metadata(key, value);
  graph.metadata("stoker.pixels", image.channels == 3 ? "RGB, (value / 255 - mean) / std"
                                                      : "grey, (value / 255 - mean) / std");
  if (!card.preprocessing.framing.empty()) {
    graph.metadata("stoker.resize", "bilinear with antialiasing, as Pillow 13 does it");
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
