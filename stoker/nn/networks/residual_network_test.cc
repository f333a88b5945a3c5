#include "stoker/nn/networks/residual_network.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

const ModelInput kResidualInput = {.image = {.height = 40, .width = 32, .channels = 3},
                                   .classes = 5};
const ModelInput kImageNet = {.image = {.height = 224, .width = 224, .channels = 3},
                              .classes = 1000};

at::Tensor tensor_of(const Model& model, const std::string& name) {
  for (const NamedTensor& t : all_tensors(model)) {
    if (t.name == name) return t.tensor.detach();
  }
  ADD_FAILURE() << "no tensor " << name;
  return at::zeros({1});
}

double deviation_of(const at::Tensor& tensor) {
  return tensor.square().mean().sqrt().item<double>();
}

TEST(ResidualNetwork, StartsWithTheDeviationsOfTorchvision) {
  const auto resnet = make_model("resnet18", kResidualInput, 1);
  const auto mobilenet = make_model("mobilenet_v2", kResidualInput, 1);
  const auto expect = [](const at::Tensor& tensor, double deviation) {
    const auto count = static_cast<double>(tensor.numel());
    EXPECT_NEAR(deviation_of(tensor) / deviation, 1, 5 / std::sqrt(2 * count));
    EXPECT_NEAR(tensor.mean().item<double>() / deviation, 0, 5 / std::sqrt(count));
  };
  expect(tensor_of(*resnet, "conv1.weight"), std::sqrt(2.0 / (64 * 49)));
  expect(tensor_of(*resnet, "layer4.0.conv1.weight"), std::sqrt(2.0 / (512 * 9)));
  expect(tensor_of(*resnet, "layer4.0.downsample.0.weight"), std::sqrt(2.0 / 512));
  expect(tensor_of(*mobilenet, "features.17.conv.1.0.weight"), std::sqrt(2.0 / (960 * 9)));
  expect(tensor_of(*mobilenet, "classifier.1.weight"), 0.01);
  EXPECT_EQ(deviation_of(tensor_of(*mobilenet, "classifier.1.bias")), 0);
  const double bound = 1 / std::sqrt(512.0);
  expect(tensor_of(*resnet, "fc.weight"), bound / std::sqrt(3.0));
  EXPECT_LE(tensor_of(*resnet, "fc.weight").abs().max().item<double>(), bound);
  EXPECT_GT(tensor_of(*resnet, "fc.bias").abs().max().item<double>(), 0);
}

TEST(ResidualNetwork, TheSeedAloneMakesTheWeights) {
  for (const char* name : {"resnet18", "mobilenet_v2"}) {
    const auto a = make_model(name, kResidualInput, 1), b = make_model(name, kImageNet, 1),
               c = make_model(name, kResidualInput, 2);
    const auto first = a->parameters(), second = b->parameters(), third = c->parameters();
    for (std::size_t i = 0; i + 2 < first.size(); ++i) {  // the heads have other shapes
      EXPECT_TRUE(at::equal(first[i].tensor, second[i].tensor)) << first[i].name;
      if (first[i].tensor.dim() == 4) {
        EXPECT_FALSE(at::equal(first[i].tensor, third[i].tensor)) << first[i].name;
      }
    }
  }
}

// Billions, for 224x224 images, as torchvision's page of models has them.
TEST(ResidualNetwork, CountsThePublishedMultiplyAdds) {
  const std::pair<const char*, double> published[] = {{"resnet18", 1.814},
                                                      {"resnet34", 3.664},
                                                      {"resnet50", 4.089},
                                                      {"resnet101", 7.801},
                                                      {"mobilenet_v2", 0.301}};
  for (const auto& [name, billions] : published) {
    const auto model = make_model(name, kImageNet, 1);
    EXPECT_NEAR(static_cast<double>(model->multiply_adds()) / 1e9, billions, 6e-4) << name;
  }
}

TEST(ResidualNetwork, TakesImagesOfAnyShapeFrom32On) {
  for (const char* name : {"resnet18", "mobilenet_v2"}) {
    for (const auto& [height, width] : {std::pair{32, 32}, std::pair{33, 97}, std::pair{200, 32}}) {
      const auto model = make_model(name, {.image = {height, width, 3}, .classes = 4}, 1);
      const at::Tensor logits = model->forward(at::rand({2, 3, height, width}));
      EXPECT_EQ(logits.sizes(), at::IntArrayRef({2, 4}));
      EXPECT_TRUE(logits.isfinite().all().item<bool>());
    }
    EXPECT_THROW(static_cast<void>(make_model(name, {.image = {31, 64, 3}, .classes = 4}, 1)),
                 Error);
  }
}

TEST(ResidualNetwork, OnlyMobileNetDropsAndOnlyInTrainingByTheKey) {
  const at::Tensor x = at::rand({4, 3, 40, 32}), labels = at::arange(4);
  const auto logits = [&](const char* name, std::optional<DrawKey> draw) {
    return make_model(name, kResidualInput, 1)->backward(x, labels, {.draw = draw}).logits;
  };
  const at::Tensor without = logits("mobilenet_v2", {});
  const at::Tensor with = logits("mobilenet_v2", DrawKey{1, 2});
  EXPECT_FALSE(at::equal(with, without));
  EXPECT_TRUE(at::equal(with, logits("mobilenet_v2", DrawKey{1, 2})));
  EXPECT_FALSE(at::equal(with, logits("mobilenet_v2", DrawKey{1, 3})));
  EXPECT_TRUE(at::equal(logits("resnet18", {}), logits("resnet18", DrawKey{1, 2})));
}

TEST(ResidualNetwork, AModelFileBringsItBack) {
  const TempFolder folder;
  const auto path = folder.path() / "model.safetensors";
  const at::Tensor x = at::rand({4, 3, 40, 32});
  for (const char* name : {"resnet18", "mobilenet_v2"}) {
    const auto model = make_model(name, kResidualInput, 1);
    model->backward(x, at::arange(4), {});  // moves the statistics
    save_model(path, *model, {"a", "b", "c", "d", "e"}, {});
    const LoadedModel loaded = load_model(path);
    EXPECT_TRUE(at::equal(loaded.model->forward(x), model->forward(x)));
    for (const NamedTensor& t : loaded.model->buffers()) {
      EXPECT_TRUE(at::equal(t.tensor, tensor_of(*model, t.name))) << t.name;
    }
  }
}

}  // namespace
}  // namespace stoker
