// A registered network for tests: convolutions, batch norms and a block of its own.
#pragma once

#include <string>

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include "stoker/network.h"

namespace stoker {

// x + conv(x)
struct TestBlockImpl : torch::nn::Module {
  explicit TestBlockImpl(std::int64_t channels)
      : conv(torch::nn::Conv2dOptions(channels, channels, 3).padding(1)) {
    register_module("conv", conv);
  }
  at::Tensor forward(const at::Tensor& x) { return x + conv(x); }
  torch::nn::Conv2d conv;
};
TORCH_MODULE(TestBlock);

inline Network make_test_network(const NetworkInput& input) {
  const std::int64_t channels = std::stoll(input.details);
  torch::nn::Conv2d stem(
      torch::nn::Conv2dOptions(input.image.channels, channels, 3).stride(2).padding(1).bias(false));
  return {.stages = {{"stem", torch::nn::Sequential(stem, torch::nn::BatchNorm2d(channels),
                                                    torch::nn::ReLU())},
                     {"block", torch::nn::Sequential(TestBlock(channels))}},
          .dropout = 0.2};
}

// "test-network:4", registered by the first call.
inline const char* test_network() {
  static const bool registered = [] {
    register_network(
        {.name = "test-network", .usage = "test-network:CHANNELS", .make = make_test_network});
    return true;
  }();
  static_cast<void>(registered);
  return "test-network:4";
}

}  // namespace stoker
