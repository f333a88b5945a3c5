#include "stoker/nn/onnx/onnx_export.h"

#include <array>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/io/onnx.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/inference/fold_norms.h"
#include "stoker/nn/int8/quantised_graph.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/onnx/onnx_emitter.h"
#include "stoker/nn/timm/timm_folder.h"

namespace stoker {
namespace {

const char* output_name(Task task) {
  if (task == Task::kClassify) return "logits";
  return task == Task::kMultilabel ? "probabilities" : "predictions";
}

// Normalised, (samples, channels, height, width).
OnnxValue network_input(OnnxGraph& graph, const ImageShape& image, const ModelCard& card,
                        const OnnxExportOptions& options) {
  if (!options.with_preprocessing) {
    return graph.input("pixels",
                       std::array<std::int64_t, 3>{image.channels, image.height, image.width});
  }
  if (image.depth != 8) {
    throw Error({.what = "cannot put the preprocessing into the network",
                 .expected = "a network for images of 8 bits",
                 .found = fmt::format("{} bits", image.depth),
                 .hint = "Export it without, and normalise as stoker.pixels says."});
  }
  const OnnxValue bytes = graph.input(
      "pixels", std::array<std::int64_t, 3>{image.height, image.width, image.channels}, DType::kU8);
  const Normalisation values = card.preprocessing.normalisation();
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::array<std::int64_t, 1> shape = {image.channels};
  // Two roundings, as normalise() has them.
  const OnnxValue scaled = graph.node(
      "Mul", {graph.node("Cast", {bytes}, {{"to", onnx_type(at::kFloat)}}),
              graph.constant("stoker.scale", std::span(values.scale).first(channels), shape)});
  const OnnxValue moved = graph.node(
      "Add",
      {scaled, graph.constant("stoker.offset", std::span(values.offset).first(channels), shape)});
  return graph.node("Transpose", {moved}, {{"perm", std::vector<std::int64_t>{0, 3, 1, 2}}});
}

std::string meaning_of_pixels(const ImageShape& image, const OnnxExportOptions& options) {
  const std::string colours = image.channels == 1 ? "grey" : image.channels == 3 ? "RGB" : "RGBA";
  if (options.with_preprocessing) return colours + ", bytes 0 to 255";
  return colours +
         (image.depth == 8 ? ", (value / 255 - mean) / std" : ", (value / 65535 - mean) / std");
}

OnnxGraph graph_of(const Model& model, const ModelCard& card, const OnnxExportOptions& options) {
  OnnxGraph graph(model.architecture());
  const ImageShape& image = model.input().image;
  const std::array<std::int64_t, 1> classes = {model.input().classes};
  InferenceGraph network = inference_graph(model, card);
  if (options.int8) network = with_folded_norms(std::move(network));
  const std::vector<TracedValue> values = trace_values(network, image);
  const QuantisedValues quantised =
      options.int8 ? quantised_values(network, values, needed_calibration(card))
                   : QuantisedValues{};
  OnnxEmitter emitter(graph, network, values, network_input(graph, image, card, options),
                      quantised);
  graph.output(output_name(card.task), emitter.emit(), classes);
  ModelCard told = card;
  told.graph = {};  // the file is the graph
  told.calibration = {};
  told.engines = {};  // times: the same model must make the same bytes
  for (const auto& [key, value] : card_metadata(told)) graph.metadata(key, value);
  graph.metadata("stoker.pixels", meaning_of_pixels(image, options));
  if (!card.preprocessing.framing.empty()) {
    graph.metadata("stoker.resize", framing_filter(card.preprocessing.framing) +
                                        " with antialiasing, as Pillow 13 does it");
  }
  return graph;
}

}  // namespace

void write_onnx(const std::filesystem::path& path, const Model& model, const ModelCard& card,
                const OnnxExportOptions& options) {
  graph_of(model, card, options).write(path);
}

std::string encode_onnx(const Model& model, const ModelCard& card,
                        const OnnxExportOptions& options) {
  return graph_of(model, card, options).encode();
}

}  // namespace stoker
