#include "stoker/nn/onnx/onnx_export.h"

#include <array>
#include <span>
#include <vector>

#include "stoker/io/onnx.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/onnx/onnx_emitter.h"
#include "stoker/nn/timm/timm_folder.h"

namespace stoker {
namespace {

const char* output_name(Task task) {
  if (task == Task::kClassify) return "logits";
  return task == Task::kMultilabel ? "probabilities" : "predictions";
}

OnnxGraph graph_of(const Model& model, const ModelCard& card) {
  OnnxGraph graph(model.architecture());
  const ImageShape& image = model.input().image;
  const std::array<std::int64_t, 3> pixels = {image.channels, image.height, image.width};
  const std::array<std::int64_t, 1> classes = {model.input().classes};
  const InferenceGraph network = inference_graph(model, card);
  const std::vector<TracedValue> values = trace_values(network, image);
  OnnxEmitter emitter(graph, network, values, graph.input("pixels", pixels));
  graph.output(output_name(card.task), emitter.emit(), classes);
  ModelCard told = card;
  told.graph = {};  // the file is the graph
  for (const auto& [key, value] : card_metadata(told)) graph.metadata(key, value);
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
