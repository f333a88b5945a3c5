#include "stoker/nn/int8/calibration_engine.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "stoker/core/error.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/inference/fold_norms.h"
#include "stoker/nn/int8/quantised_graph.h"
#include "stoker/nn/model_file.h"

namespace stoker {
namespace {

constexpr std::int64_t kCalibrationPart = 4;  // images at once: their memory stays in use

}  // namespace

CalibrationEngine::CalibrationEngine(const Model& model)
    : input_(model.input()),
      network_(with_folded_norms(inference_graph(model, ModelCard{}))),
      executor_(network_.graph, std::vector<std::size_t>(network_.graph.nodes.size(), 0),
                "the network") {
  const std::vector<TracedValue> values = trace_values(network_, input_.image);
  for (const auto& [value, range_of] : rounded_values(network_, values)) sums_[range_of] = {};
  if (sums_.empty()) {
    throw Error({.what = "int8 cannot make this network faster",
                 .expected = "convolutions or matrix products",
                 .found = model.architecture()});
  }
}

at::Tensor CalibrationEngine::forward(const at::Tensor& x) {
  check_batch(input_, x);
  std::vector<at::Tensor> logits;
  for (const at::Tensor& part : x.split(kCalibrationPart)) logits.push_back(forward_part(part));
  return at::cat(logits);
}

at::Tensor CalibrationEngine::forward_part(const at::Tensor& x) {
  const c10::InferenceMode inference;
  const ExportedGraph& graph = network_.graph;
  const std::int64_t samples = x.size(0);
  GraphValues values(graph.values.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const bool images = graph.inputs[i].kind == GraphInput::Kind::kImages;
    values[graph.inputs[i].value.value] = images ? x : network_.tensors[i];
    if (images) note(graph.inputs[i].value.value, x, samples);
  }
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    executor_.run(values, node, node + 1, {.samples = samples});
    for (const GraphOutput& output : graph.nodes[node].outputs) {
      for (const GraphReference value : output.values) {
        if (!sums_.contains(value.value)) continue;
        note(value.value, values[value.value].toTensor(), samples);
      }
    }
  }
  images_ += static_cast<std::uint64_t>(samples);
  return values[graph.output.value].toTensor();
}

void CalibrationEngine::note(std::uint32_t value, const at::Tensor& tensor, std::int64_t samples) {
  const auto sum = sums_.find(value);
  if (sum == sums_.end()) return;
  const auto [least, most] = at::aminmax(tensor.reshape({samples, -1}), 1);
  sum->second.least += least.clamp_max(0).sum(at::kDouble).item<double>();
  sum->second.most += most.clamp_min(0).sum(at::kDouble).item<double>();
}

Calibration CalibrationEngine::calibration() const {
  Calibration result{.images = images_};
  const auto images = static_cast<double>(std::max<std::uint64_t>(1, images_));
  for (const auto& [value, sum] : sums_) {
    result.ranges[network_.graph.values[value].name] = {sum.least / images, sum.most / images};
  }
  return result;
}

}  // namespace stoker
