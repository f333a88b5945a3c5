// What Python makes of these files is tests/networks_test.py's; here Stoker reads them.
#include "stoker/nn/graph/exported_file.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/graph/inference_graph.h"
#include "stoker/nn/graph/trace_values.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Not;

const ModelInput kWrittenInput = {.image = {.height = 40, .width = 36, .channels = 3},
                                  .classes = 4};

ModelCard written_card(const Model& model, Task task = Task::kClassify) {
  return {.architecture = model.architecture(),
          .input = model.input(),
          .class_names = {"a", "b", "c", "d"},
          .preprocessing = {.mean = {0.1, 0.2, 0.3}, .deviation = {1, 2, 3}},
          .task = task,
          .target_mean = {1, 2, 3, 4},
          .target_std = {2, 2, 2, 2}};
}

// A network whose stochastic depth and dropout are for training alone.
std::unique_ptr<Model> dropping_network() {
  GraphBuilder b;
  GraphReference x = b.convolution("stem", b.images(),
                                   {.inputs = 3,
                                    .outputs = 6,
                                    .side = 3,
                                    .bias = true,
                                    .initial = {InitialValues::Kind::kNormal, 0.2}});
  x = b.call("aten::relu_", {{"self", b.batch_norm("norm", x, {.channels = 6})}});
  x = b.add(x, b.drop_path(b.activation("aten::sigmoid", x), 0.5, 4));
  x = b.dropout(b.flatten(b.average_pool(x, 1, 1), 1), 0.5);
  return make_built_network(
      "dropping", b.finish(b.linear("head", x, 6, 4, {InitialValues::Kind::kNormal, 0.1})),
      kWrittenInput, 3);
}

TEST(ExportedFile, IsReadAsTheSameNetwork) {
  const TempFolder folder;
  const auto path = folder.path() / "network.pt2";
  const at::Tensor images = at::rand({3, 3, 40, 36});
  for (const char* architecture : {"cnn:4,8", "resnet18", "mobilenet_v2"}) {
    const auto model = make_model(architecture, kWrittenInput, 5);
    write_exported_network(path, *model, written_card(*model));
    const auto read = make_model(path.string(), kWrittenInput, 1);
    EXPECT_EQ(read->architecture(), std::string("graph:") + architecture);
    EXPECT_TRUE(at::allclose(read->forward(images), model->forward(images), 1e-5, 1e-6))
        << architecture;
  }
}

// Its weights are (inputs, outputs), so its last layer is no linear layer of PyTorch's: what it
// gives is read as features.
TEST(ExportedFile, APerceptronsOutputsAreFeatures) {
  const TempFolder folder;
  const auto path = folder.path() / "network.pt2";
  const at::Tensor images = at::rand({3, 3, 40, 36});
  const auto model = make_model("mlp:4320,5,4:relu", kWrittenInput, 5);
  write_exported_network(path, *model, written_card(*model));
  const auto read = make_model(path.string(), kWrittenInput, 1);
  EXPECT_TRUE(at::allclose(read->features(images), model->forward(images), 1e-5, 1e-6));
}

TEST(ExportedFile, PredictsInTheUnitsOfTheTask) {
  const TempFolder folder;
  const auto path = folder.path() / "network.pt2";
  const auto model = make_model("cnn:4,8", kWrittenInput, 5);
  const at::Tensor images = at::rand({3, 3, 40, 36});
  const at::Tensor outputs = model->forward(images);
  write_exported_network(path, *model, written_card(*model, Task::kMultilabel));
  const auto features = [&] {
    return make_model(path.string(), kWrittenInput, 1)->features(images);
  };
  EXPECT_TRUE(at::allclose(features(), outputs.sigmoid(), 1e-5, 1e-6));
  write_exported_network(path, *model, written_card(*model, Task::kRegress));
  EXPECT_TRUE(
      at::allclose(features(), outputs * 2 + at::tensor({1.0F, 2.0F, 3.0F, 4.0F}), 1e-5, 1e-5));
}

TEST(InferenceGraph, HasNothingOfTraining) {
  const auto model = dropping_network();
  const InferenceGraph network = inference_graph(*model, written_card(*model));
  for (const char* target : {"aten::bernoulli_.float", "aten::new_empty", "aten::dropout",
                             "aten::div_.Tensor", "aten::relu_", "aten::sym_size.int"}) {
    EXPECT_THAT(network.graph.nodes, Not(Contains(Field(&GraphNode::target, target))));
  }
  EXPECT_THAT(network.graph.nodes, Contains(Field(&GraphNode::target, "aten::relu")));
  EXPECT_THAT(network.graph.inputs,
              Each(Field(&GraphInput::name, Not("norm.num_batches_tracked"))));
}

TEST(InferenceGraph, WhatIsChangedInPlaceIsSeenAfterwards) {
  GraphBuilder b;
  const GraphReference x = b.activation("aten::neg", b.images());
  b.call("aten::add_.Tensor", {{"self", x}, {"other", 1.0}});  // its result is not used
  const ExportedGraph graph = without_training(b.finish(b.activation("aten::relu", x)).graph);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[1].target, "aten::add.Tensor");
  EXPECT_EQ(std::get<GraphReference>(graph.nodes[2].arguments[0].value),
            graph.nodes[1].outputs[0].values[0]);
}

TEST(InferenceGraph, AViewThatIsChangedInPlaceIsRefused) {
  GraphBuilder b;
  const GraphReference x = b.activation("aten::neg", b.images());
  const GraphReference view = b.flatten(x, 1);
  b.call("aten::add_.Tensor", {{"self", view}, {"other", 1.0}});
  const ExportedGraph graph = b.finish(b.activation("aten::relu", x)).graph;
  EXPECT_THAT(message_of([&] { (void)without_training(graph); }),
              ::testing::HasSubstr("aten::add_.Tensor"));
}

TEST(TraceValues, KnowsWhichSizesGrow) {
  const auto model = dropping_network();
  const InferenceGraph network = inference_graph(*model, written_card(*model));
  const std::vector<TracedValue> values = trace_values(network, kWrittenInput.image);
  const TracedValue& output = values[network.graph.output.value];
  ASSERT_EQ(output.sizes.size(), 2U);
  EXPECT_EQ(output.sizes[0], (TracedSize{0, 1}));
  EXPECT_EQ(output.sizes[1], (TracedSize{4, 0}));
  EXPECT_TRUE(output.depends_on_images);
}

TEST(TraceValues, ConstantsAreOneRowOfEachSample) {
  GraphBuilder b;
  const GraphReference ones =
      b.call("aten::ones", {{"size", std::vector<GraphSize>{b.batch_size(), std::int64_t{3}}}});
  const GraphReference two = b.call("aten::mul.Tensor", {{"self", ones}, {"other", 2.0}});
  const GraphReference x = b.flatten(b.average_pool(b.images(), 1, 1), 1);
  const InferenceGraph network{.graph = b.finish(b.add(x, two)).graph, .tensors = {at::Tensor()}};
  const std::vector<TracedValue> values = trace_values(network, kWrittenInput.image);
  EXPECT_FALSE(values[two.value].depends_on_images);
  EXPECT_FALSE(values[ones.value].constant.defined());  // only used by a constant
  EXPECT_TRUE(at::equal(values[two.value].constant, at::full({1, 3}, 2.0F)));
}

}  // namespace
}  // namespace stoker
