#include "stoker/nn/networks/cnn.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

const ModelInput kGrey = {.image = {.height = 28, .width = 28, .channels = 1}, .classes = 10};

TEST(Cnn, TakesImagesOfItsChannelsAndGivesALogitForEachClass) {
  const Cnn cnn("cnn:8,16", {8, 16}, {.image = {20, 30, 3}, .classes = 7}, 1);
  EXPECT_EQ(cnn.forward(at::rand({5, 3, 20, 30})).sizes(), at::IntArrayRef({5, 7}));
  EXPECT_THROW(static_cast<void>(cnn.forward(at::rand({5, 1, 20, 30}))), Error);
}

TEST(Cnn, TheSeedAloneMakesTheWeights) {
  const auto a = make_model("cnn:8,16", kGrey, 1), b = make_model("cnn:8,16", kGrey, 1),
             c = make_model("cnn:8,16", kGrey, 2);
  for (std::size_t i = 0; i < a->parameters().size(); ++i) {
    EXPECT_TRUE(at::equal(a->parameters()[i].tensor, b->parameters()[i].tensor));
  }
  EXPECT_FALSE(at::equal(a->parameters()[0].tensor, c->parameters()[0].tensor));
}

TEST(Cnn, AStepDownItsGradientLowersTheLoss) {
  at::manual_seed(1);
  Cnn cnn("cnn:8,16", {8, 16}, kGrey, 1);
  const at::Tensor labels = at::arange(32).remainder(10);
  // Brighter images have higher labels.
  const at::Tensor x = at::rand({32, 1, 28, 28}) + labels.reshape({32, 1, 1, 1});
  const double before = cnn.backward(x, labels, {}).loss.item<double>();
  for (int step = 0; step < 10; ++step) {
    const at::NoGradGuard no_grad;
    for (const NamedTensor& p : cnn.parameters()) {
      at::Tensor tensor = p.tensor;
      tensor.sub_(tensor.grad(), 0.1);
      tensor.mutable_grad().reset();
    }
    cnn.backward(x, labels, {});
  }
  EXPECT_LT(cnn.backward(x, labels, {}).loss.item<double>(), before - 0.1);
}

TEST(Cnn, OnlyTrainingMovesTheRunningStatistics) {
  Cnn cnn("cnn:8", {8}, kGrey, 1);
  const at::Tensor before = cnn.buffers()[0].tensor.clone();
  static_cast<void>(cnn.forward(at::rand({4, 1, 28, 28})));
  EXPECT_TRUE(at::equal(cnn.buffers()[0].tensor, before));
  cnn.backward(at::rand({4, 1, 28, 28}), at::zeros({4}, at::kLong), {});
  EXPECT_FALSE(at::equal(cnn.buffers()[0].tensor, before));
}

TEST(Cnn, GradientsOfABatchAddUpFromItsWeightedParts) {
  // The whole batch twice: batch normalisation makes real parts depend on each other.
  at::manual_seed(1);
  Cnn cnn("cnn:8", {8}, kGrey, 1);
  const at::Tensor x = at::rand({8, 1, 28, 28}), labels = at::arange(8);
  cnn.backward(x, labels, {});
  const at::Tensor whole = cnn.parameters()[0].tensor.grad().clone();
  for (const NamedTensor& p : cnn.parameters()) at::Tensor(p.tensor).mutable_grad().reset();
  cnn.backward(x, labels, {.weight = 0.25});
  cnn.backward(x, labels, {.weight = 0.75});
  const at::Tensor sum = cnn.parameters()[0].tensor.grad();
  EXPECT_LE((sum - whole).norm().item<double>(), 1e-3 * whole.norm().item<double>());
}

TEST(Cnn, ABatchOnAnotherDeviceIsAnErrorThatNamesBoth) {
  Cnn cnn("cnn:8", {8}, kGrey, 1);
  cnn.to(at::kMeta);
  const ErrorDetails error = error_of([&] {
    static_cast<void>(cnn.forward(at::rand({4, 1, 28, 28})));
  });
  EXPECT_NE(error.expected.find("meta"), std::string::npos);
  EXPECT_NE(error.found.find("cpu"), std::string::npos);
}

}  // namespace
}  // namespace stoker
