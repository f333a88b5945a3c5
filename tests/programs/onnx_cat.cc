// Test program: `onnx_cat ARCHITECTURE HEIGHT WIDTH CHANNELS CLASSES FOLDER` makes a network with
// random weights and statistics and writes it as model.onnx, random pixels of five samples as
// pixels.f32, and the logits that LibTorch computes for them as logits.f32. tests/onnx_test.py
// compares those with what ONNX Runtime computes.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/onnx/onnx_export.h"

namespace {

// As after training: no bias is 0, no running mean 0, no running variance 1.
void disturb(const stoker::Model& model) {
  const at::NoGradGuard no_grad;
  for (const stoker::NamedTensor& named : stoker::all_tensors(model)) {
    at::Tensor tensor = named.tensor;
    const bool variance = named.name.ends_with("running_var");
    if (tensor.dim() == 1) tensor.copy_(at::rand_like(tensor) + (variance ? 0.5 : -0.5));
  }
}

void write_values(const std::filesystem::path& path, const at::Tensor& tensor) {
  const at::Tensor rows = tensor.contiguous();
  stoker::write_whole_file(path, {static_cast<const char*>(rows.const_data_ptr()), rows.nbytes()},
                           "values");
}

void run(char** arguments) {
  at::manual_seed(7);
  const auto number = [&](int i) { return std::atoi(arguments[i]); };
  const stoker::ModelInput input{
      .image = {.height = number(2), .width = number(3), .channels = number(4)},
      .classes = number(5)};
  const auto model = stoker::make_model(arguments[1], input, /*seed=*/3);
  disturb(*model);
  stoker::ModelCard card{
      .architecture = model->architecture(),
      .input = input,
      .class_names = {},
      .preprocessing = {
          .mean = {0.1, 0.2, 0.3}, .deviation = {0.5, 0.6, 0.7}, .framing = "resize_crop(32,28)"}};
  for (int i = 0; i < number(5); ++i) card.class_names.push_back(fmt::format("größe {}", i));
  const at::Tensor pixels =
      at::randn({5, input.image.channels, input.image.height, input.image.width});
  const std::filesystem::path folder = arguments[6];
  stoker::write_whole_file(folder / "model.onnx", stoker::encode_onnx(*model, card), "model");
  write_values(folder / "pixels.f32", pixels);
  write_values(folder / "logits.f32", model->forward(pixels));
}

}  // namespace

int main(int count, char** arguments) {
  constexpr int kWords = 6;  // of a network; loading LibTorch takes longer than most networks
  if (count == 1 || count % kWords != 1) {
    std::fputs("usage: onnx_cat (ARCHITECTURE HEIGHT WIDTH CHANNELS CLASSES FOLDER)...\n", stderr);
    return 2;
  }
  try {
    for (int i = 0; i + kWords < count; i += kWords) run(arguments + i);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "onnx_cat: {}\n", error.what());
    return 1;
  }
}
