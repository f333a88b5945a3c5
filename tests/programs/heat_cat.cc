// Test program: `heat_cat MODEL BATCH OUT` takes `pixels` and `labels` of the safetensors file
// BATCH, and writes to OUT the logits ("logits") of the model file and the class activation maps of
// the labels ("heat").
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "stoker/io/safetensors.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/tensor_views.h"

namespace {

void run(char** arguments) {
  at::set_num_threads(1);
  const stoker::SafetensorsFile batch{std::string(arguments[2])};
  const at::Tensor pixels = stoker::tensor_of(*batch.find("pixels"));
  const at::Tensor labels = stoker::tensor_of(*batch.find("labels"));
  const auto loaded = stoker::load_model(arguments[1]);
  const std::vector<stoker::NamedTensor> results = {
      {"logits", loaded.model->forward(pixels)},
      {"heat", loaded.model->class_activation(pixels, labels)}};
  const stoker::FileTensors rows(results);
  stoker::write_safetensors(arguments[3], rows.views());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: heat_cat MODEL BATCH OUT\n", stderr);
    return 2;
  }
  try {
    run(arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "heat_cat: {}\n", error.what());
    return 1;
  }
}
