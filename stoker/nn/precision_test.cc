// Lower precision, weighted classes and where a network looked, for every kind of model.
#include <cmath>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

const ModelInput kPrecisionInput = {.image = {.height = 64, .width = 64, .channels = 3},
                                    .classes = 5};

at::Tensor some_images() {
  at::manual_seed(1);
  return at::rand({6, 3, 64, 64});
}
at::Tensor some_labels() { return at::arange(6).remainder(5); }

TEST(Precision, Bfloat16IsNearFloat32AndGradientsStayFloat32) {
  for (const char* architecture : {"cnn:4,8,8", "resnet18", "mobilenet_v2"}) {
    const auto model = make_model(architecture, kPrecisionInput, 1);
    const at::Tensor exact = model->forward(some_images());
    model->compute_in(Precision::kBfloat16);
    const at::Tensor near = model->forward(some_images());
    EXPECT_EQ(near.scalar_type(), at::kFloat);
    EXPECT_FALSE(at::equal(near, exact)) << architecture << " computed in float32";
    EXPECT_LT((near - exact).abs().max().item<double>(), 0.05 * exact.abs().max().item<double>())
        << architecture;
    const Model::Pass pass = model->backward(some_images(), some_labels(), {});
    EXPECT_EQ(pass.loss.scalar_type(), at::kFloat);
    for (const NamedTensor& p : model->parameters()) {
      ASSERT_TRUE(p.tensor.grad().defined()) << p.name;
      EXPECT_EQ(p.tensor.grad().scalar_type(), at::kFloat) << p.name;
    }
    EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU)) << "left on";
  }
}

TEST(Precision, ThePerceptronHasFloat32Alone) {
  const auto model = make_model("mlp:12288,5", kPrecisionInput, 1);
  EXPECT_THROW(model->compute_in(Precision::kBfloat16), Error);
  EXPECT_NO_THROW(model->compute_in(Precision::kFloat32));
}

// Against a loss written out: sum of w_y * -log p_y over the samples, divided by their number.
TEST(ClassWeights, AreThoseOfTheSamplesAndTheMeanIsOverSamples) {
  const at::Tensor weights = at::tensor({0.5F, 1.0F, 2.0F, 0.0F, 3.0F});
  for (const char* architecture : {"mlp:12288,7,5", "cnn:4,8,8"}) {
    const auto model = make_model(architecture, kPrecisionInput, 1);
    const at::Tensor labels = some_labels();
    const Model::Pass pass = model->backward(some_images(), labels, {.class_weights = weights});
    const at::Tensor each = pass.logits.log_softmax(1).gather(1, labels.unsqueeze(1)).squeeze(1);
    const at::Tensor expected = -(each * weights.index_select(0, labels)).sum() / 6;
    EXPECT_TRUE(at::allclose(pass.loss, expected, 1e-5, 1e-6)) << architecture;
  }
}

// The perceptron's written-out gradient against a difference quotient.
TEST(ClassWeights, ReachThePerceptronsGradientWithSmoothing) {
  const auto model = make_model("mlp:12288,5", kPrecisionInput, 1);
  const LossOptions options{.smoothing = 0.1,
                            .class_weights = at::tensor({0.5F, 1.0F, 2.0F, 0.0F, 3.0F})};
  model->backward(some_images(), some_labels(), options);
  const at::Tensor bias = model->parameters().back().tensor;
  const at::Tensor gradient = bias.grad().clone();
  constexpr double kStep = 1e-2;
  for (int i = 0; i < 5; ++i) {
    const auto loss_at = [&](double change) {
      bias[i].add_(change);
      const double loss =
          model->backward(some_images(), some_labels(), options).loss.item<double>();
      bias[i].sub_(change);
      return loss;
    };
    EXPECT_NEAR((loss_at(kStep) - loss_at(-kStep)) / (2 * kStep), gradient[i].item<double>(), 2e-4);
  }
}

// A bright square in a corner, and weights that answer to brightness alone.
TEST(ClassActivation, LiesWhereTheImageSpeaksForTheClass) {
  const auto model = make_model("resnet18", kPrecisionInput, 1);
  at::Tensor images = at::zeros({2, 3, 64, 64});
  images[0].slice(1, 0, 20).slice(2, 0, 20).fill_(3);
  images[1].slice(1, 44, 64).slice(2, 44, 64).fill_(3);
  const at::Tensor classes = at::zeros({2}, at::kLong);
  {
    // The head adds up all channels for class 0, so activity anywhere speaks for it.
    const at::NoGradGuard no_grad;
    model->parameters()[model->parameters().size() - 2].tensor.fill_(1);
  }
  const at::Tensor heat = model->class_activation(images, classes);
  ASSERT_EQ(heat.sizes(), (at::IntArrayRef{2, 2, 2}));
  EXPECT_GE(heat.min().item<float>(), 0);
  EXPECT_FLOAT_EQ(heat[0].max().item<float>(), 1);
  EXPECT_GT(heat[0][0][0].item<float>(), heat[0][1][1].item<float>());
  EXPECT_GT(heat[1][1][1].item<float>(), heat[1][0][0].item<float>());
  for (const NamedTensor& p : model->parameters()) {
    EXPECT_FALSE(p.tensor.grad().defined()) << "looking must not train: " << p.name;
  }
}

TEST(ClassActivation, NeedsAMap) {
  const auto model = make_model("mlp:12288,5", kPrecisionInput, 1);
  EXPECT_THROW((void)model->class_activation(some_images(), some_labels()), Error);
}

}  // namespace
}  // namespace stoker
