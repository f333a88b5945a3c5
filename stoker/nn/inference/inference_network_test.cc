#include "stoker/nn/inference/inference_network.h"

#include <atomic>
#include <stdexcept>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/inference/fold_norms.h"
#include "stoker/nn/inference/fuse_layers.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/trained_network.h"

namespace stoker {
namespace {

double logits_difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

class InferenceOf : public ::testing::TestWithParam<const char*> {};

TEST_P(InferenceOf, EqualsTheModelButForRounding) {
  const auto model = trained_network(GetParam());
  InferenceNetwork network(*model, {.threads = 2});
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_images(model->input(), 5);
  const at::Tensor expected = model->forward(x), found = network.forward(x);
  // Random weights make more of rounding than trained ones; a wrong layer differs by 0.1 or more.
  EXPECT_LT(logits_difference(found, expected), 1e-3);
  EXPECT_GT(logits_difference(expected.roll(1, 0), expected), 1e-3) << "images look the same";
}

INSTANTIATE_TEST_SUITE_P(Networks, InferenceOf,
                         ::testing::Values("resnet18", "resnet50", "mobilenet_v2",
                                           "mobilenet_v3_small", "efficientnet_b0", "convnext_atto",
                                           "regnet_y_400mf", "vit_tiny_patch16_224", "cnn:small"),
                         [](const auto& one) {
                           std::string name = one.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

TEST(InferenceNetwork, BitsDoNotDependOnTheNumberOfThreads) {
  const auto model = trained_network("mobilenet_v2");
  const at::Tensor x = random_images(kSmallPhotograph, 150);
  InferenceNetwork alone(*model, {.threads = 1});
  ASSERT_LT(alone.part(), 75);
  const at::Tensor expected = alone.forward(x), one = alone.forward(x.narrow(0, 0, 1));
  for (const int threads : {2, 5}) {
    InferenceNetwork network(*model, {.threads = threads});
    EXPECT_TRUE(at::equal(network.forward(x.narrow(0, 0, 1)), one)) << "one image, " << threads;
    EXPECT_TRUE(at::equal(network.forward(x), expected)) << threads;
    EXPECT_TRUE(at::equal(network.forward(x), expected)) << "memory is used again";
  }
}

TEST(InferenceNetwork, GivesFeaturesToo) {
  for (const char* architecture : {"resnet18", "mobilenet_v2", "vit_tiny_patch16_224"}) {
    const auto model = trained_network(architecture);
    InferenceNetwork body(*model, {.threads = 2}, InferenceNetwork::Output::kFeatures);
    const at::Tensor x = random_images(model->input(), 5);
    const at::Tensor expected = model->features(x), found = body.forward(x);
    ASSERT_EQ(found.sizes(), expected.sizes());
    EXPECT_LT(logits_difference(found, expected), 1e-3) << architecture;
  }
}

TEST(InferenceNetwork, DoesNotFollowTheModelLater) {
  const auto model = trained_network("resnet18");
  const at::Tensor x = random_images(kSmallPhotograph, 2);
  InferenceNetwork network(*model, {.threads = 1});
  const at::Tensor before = network.forward(x);
  {
    const at::NoGradGuard no_grad;
    for (const NamedTensor& named : model->parameters()) named.tensor.zero_();
  }
  EXPECT_TRUE(at::equal(network.forward(x), before));
}

TEST(InferenceNetwork, Bfloat16IsNear) {
  const auto model = trained_network("resnet18");
  InferenceNetwork network(*model, {.precision = Precision::kBfloat16, .threads = 2});
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_images(kSmallPhotograph, 4);
  const double difference = logits_difference(network.forward(x), model->forward(x));
  EXPECT_LT(difference, 0.1);
  EXPECT_GT(difference, 1e-5) << "it is float32";
}

TEST(InferenceNetwork, RefusesImagesOfAnotherSize) {
  const auto model = trained_network("resnet18");
  InferenceNetwork network(*model, {});
  EXPECT_ANY_THROW((void)network.forward(at::zeros({1, 3, 32, 32})));
  EXPECT_EQ(network.forward(random_images(kSmallPhotograph, 1)).size(0), 1)
      << "it goes on after an error";
}

TEST(FoldNorms, NoNormOfAResnetIsLeft) {
  const auto model = trained_network("resnet18");
  const InferenceGraph graph = inference_graph(*model, ModelCard{});
  const auto norms = [](const InferenceGraph& network) {
    return std::ranges::count(network.graph.nodes, "aten::batch_norm", &GraphNode::target);
  };
  EXPECT_EQ(norms(graph), 20);
  EXPECT_EQ(norms(with_folded_norms(graph)), 0);
}

// 20 convolutions and the head; all activations and sums are in them.
TEST(FuseLayers, AResnetIsLayersAndPools) {
  const auto model = trained_network("resnet18");
  InferenceGraph graph = with_folded_norms(inference_graph(*model, ModelCard{}));
  const std::vector<TracedValue> values = trace_values(graph, kSmallPhotograph.image);
  const FusedGraph fused = fuse_layers(std::move(graph), values);
  EXPECT_EQ(fused.layers.size(), 21U);
  std::size_t sums = 0, in_place = 0, activations = 0;
  for (const auto& [place, layer] : fused.layers) {
    EXPECT_EQ(fused.network.graph.nodes[place].target, kFusedTarget);
    sums += layer.added.has_value() ? 1 : 0;
    in_place += layer.writes_added ? 1 : 0;
    activations += layer.activation == "relu" ? 1 : 0;
  }
  EXPECT_EQ(sums, 8U);
  EXPECT_EQ(activations, 17U);  // all but the three of shortcuts and the head
  EXPECT_EQ(in_place, 7U);      // the first block adds what the max-pool made
  EXPECT_LE(fused.network.graph.nodes.size(), 24U);
}

TEST(ComputeStreams, CallsEachOnceAndRethrows) {
  ComputeStreams streams(3);
  std::vector<std::atomic<int>> calls(100);
  for (int round = 0; round < 20; ++round) {
    streams.run(calls.size(), [&](std::size_t i) {
      EXPECT_EQ(at::get_num_threads(), 1);
      ++calls[i];
    });
  }
  for (const auto& count : calls) EXPECT_EQ(count, 20);
  const auto fail = [](std::size_t i) {
    if (i == 5) throw std::runtime_error("five");
  };
  EXPECT_THROW(streams.run(10, fail), std::runtime_error);
  streams.run(1, [&](std::size_t) { ++calls[0]; });
  EXPECT_EQ(calls[0], 21);
}

TEST(ComputeStreams, LeavesTheThreadsOfOthersAlone) {
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  const ComputeStreams streams(2);
  EXPECT_EQ(at::get_num_threads(), 3);
  int elsewhere = 0;
  std::thread([&] { elsewhere = at::get_num_threads(); }).join();
  EXPECT_EQ(elsewhere, 3);
  at::set_num_threads(before);
}

}  // namespace
}  // namespace stoker
