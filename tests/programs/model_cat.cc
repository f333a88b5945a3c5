// Test program: `model_cat ARCHITECTURE CLASSES FROZEN IN OUT` makes a network, with weights from
// IN where it has some (model.NAME) and else from the seed 1, and gives it the images `x` and the
// `labels` of IN. OUT holds the weights used (model.NAME), the logits and features as in use, and
// of one pass of training the loss, the logits, each gradient (gradient.NAME) and the buffers after
// it (after.NAME). tests/nets_test.py compares them with torchvision's.
#include <cstdio>
#include <exception>
#include <string>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/tensor_views.h"

namespace {

using stoker::NamedTensor;

std::vector<NamedTensor> prefixed(const char* prefix, const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> named;
  for (const NamedTensor& t : tensors) named.push_back({prefix + t.name, t.tensor});
  return named;
}

at::Tensor room_for(const stoker::SafetensorsFile& file, const char* name, at::ScalarType type) {
  const stoker::TensorView* view = file.find(name);
  if (view == nullptr) throw stoker::Error({.what = "the file has no tensor " + std::string(name)});
  return at::empty(view->shape, type);
}

void append_copies(const std::vector<NamedTensor>& tensors, std::vector<NamedTensor>& out) {
  for (const NamedTensor& t : tensors) out.push_back({t.name, t.tensor.detach().clone()});
}

void append_pass(stoker::Model& model, const at::Tensor& x, const at::Tensor& labels,
                 std::vector<NamedTensor>& out) {
  const stoker::Model::Pass pass = model.backward(x, labels, {});
  out.push_back({"loss", pass.loss});
  out.push_back({"training_logits", pass.logits});
  for (const NamedTensor& p : model.parameters()) {
    if (p.tensor.grad().defined()) out.push_back({"gradient." + p.name, p.tensor.grad()});
  }
  append_copies(prefixed("after.", model.buffers()), out);
}

void run(char** arguments) {
  at::set_num_threads(1);
  const std::string in = arguments[4];
  const stoker::SafetensorsFile file{std::filesystem::path(in)};
  const at::Tensor x = room_for(file, "x", at::kFloat),
                   labels = room_for(file, "labels", at::kLong);
  const auto model =
      stoker::make_model(arguments[1],
                         {.image = {static_cast<int>(x.size(2)), static_cast<int>(x.size(3)), 3},
                          .classes = std::stoll(arguments[2])},
                         /*seed=*/1);
  const std::vector<NamedTensor> weights = prefixed("model.", all_tensors(*model));
  std::vector<NamedTensor> given = {{"x", x}, {"labels", labels}};
  if (file.tensors().size() > 2) given.insert(given.end(), weights.begin(), weights.end());
  read_tensors(given, file, in);
  model->freeze(std::stoul(arguments[3]));
  std::vector<NamedTensor> out;
  append_copies(weights, out);
  out.push_back({"logits", model->forward(x)});
  out.push_back({"features", model->features(x)});
  append_pass(*model, x, labels, out);
  stoker::write_safetensors(arguments[5], stoker::FileTensors(out).views());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) {
    std::fputs("usage: model_cat ARCHITECTURE CLASSES FROZEN IN OUT\n", stderr);
    return 2;
  }
  try {
    run(arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "model_cat: {}\n", error.what());
    return 1;
  }
}
