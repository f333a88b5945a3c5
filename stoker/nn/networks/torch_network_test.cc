#include "stoker/nn/networks/torch_network.h"

#include <cmath>
#include <utility>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/layers/initial_weights.h"
#include "stoker/nn/layers/shared_statistics.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/networks/test_network.h"

namespace stoker {
namespace {

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

Network make_test_network(const NetworkInput& input) {
  const std::int64_t channels = std::stoll(input.details);
  torch::nn::Conv2d stem(
      torch::nn::Conv2dOptions(input.image.channels, channels, 3).stride(2).padding(1).bias(false));
  return {.stages = {{"stem", torch::nn::Sequential(stem, torch::nn::BatchNorm2d(channels),
                                                    torch::nn::ReLU())},
                     {"block", torch::nn::Sequential(TestBlock(channels))}},
          .dropout = 0.2};
}

}  // namespace

const char* test_network() {
  static const bool registered = [] {
    register_network(
        {.name = "test-network", .usage = "test-network:CHANNELS", .make = make_test_network});
    return true;
  }();
  static_cast<void>(registered);
  return "test-network:4";
}

namespace {

const ModelInput kTorchNetworkInput = {.image = {.height = 8, .width = 6, .channels = 3},
                                       .classes = 5};

std::unique_ptr<Model> made(std::uint64_t seed = 1) {
  return make_model(test_network(), kTorchNetworkInput, seed);
}

// The model that this function's network becomes.
std::unique_ptr<Model> made_of(std::function<Network(const NetworkInput&)> make,
                               std::uint64_t seed = 1) {
  return make_torch_network({.name = "one", .make = std::move(make)}, "one", "", kTorchNetworkInput,
                            seed);
}

std::string refusal_of(std::function<Network(const NetworkInput&)> make) {
  return message_of([&] { static_cast<void>(made_of(std::move(make))); });
}

bool same_weights(const Model& a, const Model& b) {
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    if (!at::equal(a.parameters()[i].tensor, b.parameters()[i].tensor)) return false;
  }
  return true;
}

std::vector<std::string> tensor_names(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& named : tensors) names.push_back(named.name);
  return names;
}

torch::nn::Conv2d convolution(std::int64_t outputs = 2) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(3, outputs, 1));
}

TEST(RegisterNetwork, ModelsOfItsNameAreMadeByIt) {
  const auto model = made();
  EXPECT_EQ(model->architecture(), "test-network:4");
  EXPECT_EQ(model->input(), kTorchNetworkInput);
  EXPECT_EQ(tensor_names(model->parameters()),
            (std::vector<std::string>{"stem.0.weight", "stem.1.weight", "stem.1.bias",
                                      "block.0.conv.weight", "block.0.conv.bias", "head.weight",
                                      "head.bias"}));
  EXPECT_EQ(tensor_names(model->buffers()),
            (std::vector<std::string>{"stem.1.running_mean", "stem.1.running_var",
                                      "stem.1.num_batches_tracked"}));
  EXPECT_EQ(model->forward(at::rand({7, 3, 8, 6})).sizes(), at::IntArrayRef({7, 5}));
}

TEST(RegisterNetwork, AWrongNameListsWhatIsRegistered) {
  test_network();
  const auto message = [](const char* name) {
    return message_of([&] { static_cast<void>(make_model(name, kTorchNetworkInput, 1)); });
  };
  EXPECT_NE(message("unheard-of").find("; or test-network:CHANNELS"), std::string::npos);
  EXPECT_NE(message("unheard-of").find("mlp:SIZE"), std::string::npos);
  EXPECT_NE(message("unheard-of").find("stoker/network.h"), std::string::npos);
  EXPECT_NE(message("test-netwrk:4").find("Did you mean test-network?"), std::string::npos);
}

TEST(RegisterNetwork, DetailsThatItCannotReadNameItsUsage) {
  test_network();
  for (const char* name : {"test-network", "test-network:x", "test-network:99999999999999999999"}) {
    const std::string message =
        message_of([&] { static_cast<void>(make_model(name, kTorchNetworkInput, 1)); });
    EXPECT_NE(message.find("Expected test-network:CHANNELS"), std::string::npos) << message;
  }
}

TEST(RegisterNetwork, RefusesNamesThatAreTakenOrUnreadable) {
  test_network();
  const auto refused = [](const std::string& name) {
    return message_of([&] { register_network({.name = name, .make = make_test_network}); });
  };
  for (const char* taken : {"test-network", "mlp", "resnet18"}) {
    EXPECT_NE(refused(taken).find("a network of this name"), std::string::npos) << taken;
  }
  for (const char* unreadable : {"", "a:b", "Tiny", "a b"}) {
    EXPECT_NE(refused(unreadable).find("a-z"), std::string::npos) << unreadable;
  }
  EXPECT_THROW(register_network({.name = "without", .make = nullptr}), Error);
}

TEST(TorchNetwork, TheSeedAloneMakesTheWeights) {
  at::manual_seed(1);
  const auto a = made();
  at::manual_seed(2);
  EXPECT_TRUE(same_weights(*a, *made()));
  EXPECT_FALSE(same_weights(*a, *made(2)));
  // As those of the built-in networks: from our generator, a number for each layer.
  EXPECT_TRUE(at::equal(a->parameters()[0].tensor,
                        uniform_weights({4, 3, 3, 3}, std::sqrt(6.0 / 27), 1, 0)));
  EXPECT_TRUE(
      at::equal(a->parameters()[5].tensor, uniform_weights({5, 4}, 1 / std::sqrt(4.0), 1, 2)));
  EXPECT_EQ(a->parameters()[4].tensor.abs().sum().item<float>(), 0);
}

TEST(TorchNetwork, KeptWeightsFollowFromTheSeedToo) {
  const auto make = [](const NetworkInput&) {
    return Network{.stages = {{"a", torch::nn::Sequential(convolution())}}, .keep_weights = true};
  };
  EXPECT_TRUE(same_weights(*made_of(make, 1), *made_of(make, 1)));
  const auto one = made_of(make, 1), two = made_of(make, 2);
  EXPECT_FALSE(at::equal(one->parameters()[0].tensor, two->parameters()[0].tensor));
  EXPECT_FALSE(at::equal(one->parameters()[0].tensor,
                         uniform_weights({2, 3, 1, 1}, std::sqrt(6.0 / 3), 1, 0)));
}

TEST(TorchNetwork, LibTorchsGeneratorContinuesAsIfNothingWasMade) {
  at::manual_seed(3);
  const at::Tensor expected = at::rand({4});
  at::manual_seed(3);
  static_cast<void>(made());
  EXPECT_TRUE(at::equal(at::rand({4}), expected));
}

TEST(TorchNetwork, IsTriedOutWithoutATrace) {
  const auto model = made();
  for (const NamedTensor& buffer : model->buffers()) {
    const double value = buffer.name == "stem.1.running_var" ? 1 : 0;
    EXPECT_TRUE(buffer.tensor.eq(value).all().item<bool>()) << buffer.name;
  }
  // 4x3 pixels behind the stem, and the head.
  EXPECT_EQ(model->multiply_adds(), 12 * (4 * 3 * 9) + 12 * (4 * 4 * 9) + 4 * 5);
}

TEST(TorchNetwork, AModelFileGivesTheSameOutputs) {
  const TempFolder folder;
  const auto model = made();
  model->backward(at::rand({6, 3, 8, 6}), at::arange(6).remainder(5), {});
  save_model(folder.path() / "a.safetensors", *model, {"a", "b", "c", "d", "e"}, {});
  const LoadedModel loaded = load_model(folder.path() / "a.safetensors");
  const at::Tensor x = at::rand({3, 3, 8, 6});
  EXPECT_TRUE(at::equal(loaded.model->forward(x), model->forward(x)));
  EXPECT_EQ(loaded.card.architecture, "test-network:4");
}

TEST(TorchNetwork, FeaturesMayBeAVector) {
  const auto model = made_of([](const NetworkInput&) {
    return Network{.stages = {{"all", torch::nn::Sequential(torch::nn::Flatten(),
                                                            torch::nn::Linear(3 * 8 * 6, 9))}}};
  });
  EXPECT_EQ(model->features(at::rand({2, 3, 8, 6})).sizes(), at::IntArrayRef({2, 9}));
  EXPECT_EQ(model->multiply_adds(), 144 * 9 + 9 * 5);
  const auto where = [](const Model& m) {
    return m.class_activation(at::rand({2, 3, 8, 6}), at::zeros({2}, at::kLong));
  };
  EXPECT_THROW(static_cast<void>(where(*model)), Error);
  EXPECT_EQ(where(*made()).sizes(), at::IntArrayRef({2, 4, 3}));
}

TEST(TorchNetwork, RefusesLayersThatDrawAtRandom) {
  const std::string message = refusal_of([](const NetworkInput&) {
    return Network{
        .stages = {{"a", torch::nn::Sequential(convolution(), torch::nn::Dropout(0.5))}}};
  });
  EXPECT_NE(message.find("Network::dropout"), std::string::npos) << message;
}

TEST(TorchNetwork, RefusesATensorInTwoPlaces) {
  const std::string message = refusal_of([](const NetworkInput&) {
    const torch::nn::Conv2d shared(torch::nn::Conv2dOptions(3, 3, 1));
    return Network{
        .stages = {{"a", torch::nn::Sequential(shared)}, {"b", torch::nn::Sequential(shared)}}};
  });
  EXPECT_NE(message.find("b.0.weight a second time"), std::string::npos) << message;
}

TEST(TorchNetwork, RefusesWrongStagesAndTypes) {
  const auto one = [](const char* name, torch::nn::Sequential layers) {
    return [=](const NetworkInput&) { return Network{.stages = {{name, layers}}}; };
  };
  EXPECT_NE(refusal_of([](const NetworkInput&) { return Network{}; }).find("at least one stage"),
            std::string::npos);
  EXPECT_NE(refusal_of(one("head", torch::nn::Sequential(convolution()))).find("none \"head\""),
            std::string::npos);
  EXPECT_NE(refusal_of(one("a", torch::nn::Sequential())).find("empty Sequential"),
            std::string::npos);
  EXPECT_NE(refusal_of(one("a", torch::nn::Sequential(
                                    torch::nn::Flatten(torch::nn::FlattenOptions().start_dim(0)))))
                .find("(288)"),
            std::string::npos);
  torch::nn::Sequential wide{convolution()};
  wide->to(at::kDouble);
  EXPECT_NE(refusal_of(one("a", wide)).find("a.0.weight as float32"), std::string::npos);
}

TEST(TorchNetwork, QuotesLibTorchWhereTheImagesDoNotFit) {
  const std::string message = refusal_of([](const NetworkInput&) {
    return Network{
        .stages = {{"a", torch::nn::Sequential(torch::nn::Conv2d(4, 2, /*kernel_size=*/3))}}};
  });
  EXPECT_NE(message.find("8x6x3"), std::string::npos) << message;
  EXPECT_NE(message.find("channels"), std::string::npos) << message;
}

// Trainer asks this way whether ranks may get a single sample.
TEST(TorchNetwork, ABatchNormOfOneValueIsAnError) {
  const auto model = make_model(test_network(), {.image = {2, 2, 3}, .classes = 5}, 1);
  const auto learn_from = [&](std::int64_t samples) {
    model->backward(at::rand({samples, 3, 2, 2}), at::zeros({samples}, at::kLong), {});
  };
  EXPECT_THROW(learn_from(1), Error);
  EXPECT_NO_THROW(learn_from(2));
  EXPECT_NO_THROW(static_cast<void>(model->forward(at::rand({1, 3, 2, 2}))));
}

TEST(TorchNetwork, RefusesToShareStatistics) {
  const auto model = made();
  const SharedStatistics shared([](const at::Tensor&) {});
  const std::string message = message_of([&] {
    model->backward(at::rand({6, 3, 8, 6}), at::arange(6).remainder(5), {});
  });
  EXPECT_NE(message.find("`sync_bn`"), std::string::npos) << message;
}

}  // namespace
}  // namespace stoker
