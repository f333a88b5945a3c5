// Test program: `network_cat NETWORK BATCH OUT THREADS [WEIGHTS|- [FILE.onnx FILE.pt2]]` takes
// `pixels` and `labels` of the safetensors file BATCH, and writes to OUT what the network makes of
// them: the logits in use
// ("logits"); of one pass of training without dropout "training_logits", "loss" and the gradient of
// every parameter ("grad.NAME"); and every buffer after it ("buffer.NAME").
// FILE.onnx and FILE.pt2 get the network as it is before that pass. tests/networks_test.py compares
// them with Python's.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "stoker/io/safetensors.h"
#include "stoker/nn/graph/exported_file.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/onnx/onnx_export.h"
#include "stoker/nn/tensor_views.h"

namespace {

void run(int count, char** arguments) {
  at::set_num_threads(std::atoi(arguments[4]));
  const stoker::SafetensorsFile batch{std::string(arguments[2])};
  const at::Tensor pixels = stoker::tensor_of(*batch.find("pixels"));
  const at::Tensor labels = stoker::tensor_of(*batch.find("labels"));
  const stoker::TensorView* classes = batch.find("classes");
  const stoker::ModelInput input{
      .image = {.height = static_cast<int>(pixels.size(2)),
                .width = static_cast<int>(pixels.size(3)),
                .channels = static_cast<int>(pixels.size(1))},
      .classes = classes != nullptr ? stoker::tensor_of(*classes).item<std::int64_t>() : 1000};
  const auto model = stoker::make_model(arguments[1], input, /*seed=*/1);
  if (count > 5 && std::string_view(arguments[5]) != "-")
    fmt::print("{}\n", stoker::load_pretrained(*model, arguments[5]));
  stoker::ModelCard card{.architecture = model->architecture(),
                         .input = input,
                         .class_names = {},
                         .preprocessing = {.mean = {0, 0, 0}, .deviation = {1, 1, 1}}};
  for (int i = 6; i < count; ++i) {
    if (std::string_view(arguments[i]).ends_with(".onnx")) {
      stoker::write_onnx(arguments[i], *model, card);
    } else {
      stoker::write_exported_network(arguments[i], *model, card);
    }
  }
  std::vector<stoker::NamedTensor> results = {{"logits", model->forward(pixels)}};
  const stoker::Model::Pass pass = model->backward(pixels, labels, {});
  results.push_back({"training_logits", pass.logits});
  results.push_back({"loss", pass.loss});
  for (const stoker::NamedTensor& named : model->parameters()) {
    const at::Tensor& grad = named.tensor.grad();
    results.push_back({"grad." + named.name, grad.defined() ? grad : at::zeros({0})});
  }
  for (const stoker::NamedTensor& named : model->buffers()) {
    results.push_back({"buffer." + named.name, named.tensor});
  }
  const stoker::FileTensors rows(results);
  stoker::write_safetensors(arguments[3], rows.views());
  std::vector<std::string> names;
  for (const stoker::ModelStage& stage : model->stages()) names.push_back(stage.name);
  fmt::print("{} stages:", names.size());
  for (const std::string& name : names) fmt::print(" {}", name);
  fmt::print("\n{} multiply-adds\n", model->multiply_adds());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5 || count > 8) {
    std::fputs("usage: network_cat NETWORK BATCH OUT THREADS [WEIGHTS|- [FILE.onnx FILE.pt2]]\n",
               stderr);
    return 2;
  }
  try {
    run(count, arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "network_cat: {}\n", error.what());
    return 1;
  }
}
