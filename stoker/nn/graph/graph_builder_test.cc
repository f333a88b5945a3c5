#include "stoker/nn/graph/graph_builder.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/nn/graph/exported_network.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;

const ModelInput kBuiltInput = {.image = {.height = 8, .width = 8, .channels = 3}, .classes = 4};

BuiltGraph small_network(double drop_path) {
  GraphBuilder b;
  GraphReference x = b.convolution("stem.conv", b.images(),
                                   {.inputs = 3,
                                    .outputs = 6,
                                    .side = 3,
                                    .stride = 2,
                                    .initial = {InitialValues::Kind::kNormal, 0.2}});
  x = b.activation("aten::relu", b.batch_norm("stem.norm", x, {.channels = 6}));
  const GraphReference branch = b.convolution("stages.0.conv", x,
                                              {.inputs = 6,
                                               .outputs = 6,
                                               .groups = 2,
                                               .bias = true,
                                               .initial = {InitialValues::Kind::kUniform, 0.3}});
  x = b.add(x, b.drop_path(branch, drop_path, 4));
  x = b.flatten(b.average_pool(x, 1, 1), 1);
  return b.finish(b.linear("head", x, 6, 4, {InitialValues::Kind::kNormal, 0.1}));
}

std::vector<std::string> built_names(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& one : tensors) names.push_back(one.name);
  return names;
}

TEST(GraphBuilder, MakesANetworkWithTheNamesOfItsLayers) {
  const auto model = make_built_network("small", small_network(0), kBuiltInput, 3);
  EXPECT_EQ(model->architecture(), "small");
  EXPECT_TRUE(model->graph().empty());
  EXPECT_THAT(
      built_names(model->parameters()),
      ElementsAre("stem.conv.weight", "stem.norm.weight", "stem.norm.bias", "stages.0.conv.weight",
                  "stages.0.conv.bias", "head.weight", "head.bias"));
  EXPECT_THAT(built_names(model->buffers()),
              ElementsAre("stem.norm.num_batches_tracked", "stem.norm.running_mean",
                          "stem.norm.running_var"));
  const std::vector<ModelStage> stages = model->stages();
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[1].name, "stages.0");
}

TEST(GraphBuilder, ComputesWhatItsLayersSay) {
  const auto model = make_built_network("small", small_network(0.5), kBuiltInput, 3);
  const auto p = model->parameters();
  const at::Tensor images = at::rand({2, 3, 8, 8});
  at::Tensor x = at::conv2d(images, p[0].tensor, {}, 2, 1);
  x = at::batch_norm(x, p[1].tensor, p[2].tensor, at::zeros({6}), at::ones({6}), false, 0.1, 1e-5,
                     true)
          .relu();
  const std::vector<std::int64_t> one = {1, 1}, none = {0, 0};
  x = x + at::conv2d(x, p[3].tensor, p[4].tensor, one, none, one, 2);
  x = at::linear(x.mean({2, 3}), p[5].tensor, p[6].tensor);
  EXPECT_TRUE(at::allclose(model->forward(images), x, 1e-5, 1e-6));
}

TEST(GraphBuilder, SameSeedSameWeights) {
  const auto a = make_built_network("small", small_network(0), kBuiltInput, 3),
             b = make_built_network("small", small_network(0), kBuiltInput, 3),
             c = make_built_network("small", small_network(0), kBuiltInput, 4);
  EXPECT_TRUE(at::equal(a->parameters()[0].tensor, b->parameters()[0].tensor));
  EXPECT_FALSE(at::equal(a->parameters()[0].tensor, c->parameters()[0].tensor));
  EXPECT_NEAR(a->parameters()[0].tensor.std().item<double>(), 0.2, 0.05);
}

// With a rate of one half, some of 64 samples lose their branch and some keep twice of it.
TEST(GraphBuilder, DropPathDropsWholeSamples) {
  const auto dropping = make_built_network("small", small_network(0.5), kBuiltInput, 3),
             whole = make_built_network("small", small_network(0), kBuiltInput, 3);
  const at::Tensor images = at::rand({1, 3, 8, 8}).repeat({64, 1, 1, 1});
  const at::Tensor labels = at::zeros({64}, at::kLong);
  const LossOptions options{.draw = DrawKey{.seed = 1}};
  const at::Tensor logits = dropping->backward(images, labels, options).logits;
  const at::Tensor first = logits.select(1, 0);
  EXPECT_EQ(std::get<0>(at::_unique(first)).numel(), 2);
  EXPECT_EQ(std::get<0>(at::_unique(whole->backward(images, labels, options).logits.select(1, 0)))
                .numel(),
            1);
}

}  // namespace
}  // namespace stoker
