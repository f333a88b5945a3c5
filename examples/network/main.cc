// Registers a network of its own, trains it and predicts with it. Killed and started again, the run
// continues and ends with the same weights.
//
//   network_example photos/ runs/
#include <cstdio>
#include <exception>
#include <string>

#include <stoker/network.h>
#include <stoker/predict.h>
#include <stoker/train.h>
#include <torch/nn.h>

namespace {

// Computes half of its channels from all inputs, and the other half from those by a convolution of
// each channel alone, which is cheap. Halves height and width.
struct BlockImpl : torch::nn::Module {
  BlockImpl(std::int64_t inputs, std::int64_t outputs)
      : full(torch::nn::Conv2dOptions(inputs, outputs / 2, 3).stride(2).padding(1).bias(false)),
        cheap(torch::nn::Conv2dOptions(outputs / 2, outputs / 2, 3).padding(1).groups(outputs / 2)),
        norm(outputs) {
    register_module("full", full);
    register_module("cheap", cheap);
    register_module("norm", norm);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor half = full(x);
    return torch::relu(norm(torch::cat({half, cheap(half)}, 1)));
  }
  torch::nn::Conv2d full, cheap;
  torch::nn::BatchNorm2d norm;
};
TORCH_MODULE(Block);

// "tiny:16": 16 channels, then 32. The layer that gives the classes is added by Stoker.
stoker::Network make_tiny(const stoker::NetworkInput& input) {
  const std::int64_t channels = input.details.empty() ? 16 : std::stoll(input.details);
  return {.stages = {{"first", torch::nn::Sequential(Block(input.image.channels, channels))},
                     {"second", torch::nn::Sequential(Block(channels, 2 * channels))}}};
}

void train(const char* data, const char* output) {
  stoker::RunSettings settings;
  settings.data = data;
  settings.model = "tiny:16";
  settings.policy = "resize(32,32),hflip(0.5)";
  settings.train.feed.epochs = 4;
  settings.train.feed.batch_size = 8;
  settings.output = output;
  settings.experiment = "tiny";
  settings.resume = "auto";  // continues the run if it exists
  settings.checkpoint_every = "1steps";
  const stoker::TrainResult result = stoker::train(settings);
  std::printf("%llu steps\n", static_cast<unsigned long long>(result.steps));

  stoker::Predictor predictor((result.folder / "weights" / "best.safetensors").string());
  for (const stoker::ImagePrediction& image : predictor.predict(data)) {
    std::printf("%s\t%s\t%.4f\n", image.name.c_str(), image.label.c_str(), image.probability);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "Usage: network_example DATA OUTPUT\n"), 2;
  try {
    stoker::register_network({.name = "tiny", .usage = "tiny[:CHANNELS]", .make = make_tiny});
    train(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
