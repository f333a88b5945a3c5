#include <algorithm>
#include <cmath>
#include <map>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/io/torch_file.h"
#include "stoker/nn/families/built_families.h"
#include "stoker/nn/families/published_names.h"
#include "stoker/nn/families/published_tensors.h"
#include "stoker/nn/graph/graph_layout.h"
#include "stoker/nn/graph/graph_nodes.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/networks/weights_architecture.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ModelInput kSmallPhotographs = {.image = {.height = 32, .width = 48, .channels = 3},
                                          .classes = 5};
constexpr ModelInput kThousandClasses = {.image = {.height = 224, .width = 224, .channels = 3},
                                         .classes = 1000};

BuiltGraph graph_of(const std::string& architecture, const ModelInput& input,
                    double drop_path = 0) {
  return build_network(*find_built_family(architecture), architecture, input, drop_path);
}

std::vector<std::string> all_members() {
  std::vector<std::string> names;
  for (const BuiltFamily& family : built_families()) {
    names.insert(names.end(), family.family.members.begin(), family.family.members.end());
  }
  return names;
}

// torchvision's meta["num_params"] of its published weights; of those that timm alone has, the sum
// over its parameters (timm 1.0.30).
TEST(BuiltFamilies, NumbersOfParametersAreThePublishedOnes) {
  const std::map<std::string, std::int64_t> published = {
      {"convnext_atto", 3695520},          {"convnext_femto", 5217784},
      {"convnext_pico", 9045672},          {"convnext_nano", 15593560},
      {"convnext_tiny", 28589128},         {"convnext_small", 50223688},
      {"convnext_base", 88591464},         {"vit_tiny_patch16_224", 5717416},
      {"vit_small_patch16_224", 22050664}, {"vit_base_patch16_224", 86567656},
      {"efficientnet_b0", 5288548},        {"efficientnet_b1", 7794184},
      {"efficientnet_b2", 9109994},        {"efficientnet_b3", 12233232},
      {"efficientnet_b4", 19341616},       {"efficientnet_v2_s", 21458488},
      {"mobilenet_v3_small", 2542856},     {"mobilenet_v3_large", 5483032},
      {"regnet_y_400mf", 4344144},         {"regnet_y_800mf", 6432512},
      {"regnet_y_1_6gf", 11202430},        {"regnet_y_3_2gf", 19436338},
      {"regnet_y_8gf", 39381472}};
  EXPECT_EQ(all_members().size(), published.size());
  for (const std::string& name : all_members()) {
    const BuiltGraph built = graph_of(name, kThousandClasses);
    std::int64_t parameters = 0;
    for (std::size_t i = 0; i < built.tensors.size(); ++i) {
      if (built.graph.inputs[i].kind != GraphInput::Kind::kParameter) continue;
      std::int64_t count = 1;
      for (const std::int64_t size : built.tensors[i].shape) count *= size;
      parameters += count;
    }
    EXPECT_EQ(parameters, published.at(name)) << name;
  }
}

// Tensors of a graph without values, by our names or the other library's.
std::vector<TensorView> empty_tensors(const BuiltGraph& built, bool ours) {
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < built.tensors.size(); ++i) {
    if (built.graph.inputs[i].kind == GraphInput::Kind::kImages) continue;
    std::string name = built.graph.inputs[i].name;
    for (const OtherName& other : built.other_names) {
      if (ours) break;
      if (name == other.ours) name = other.theirs;
      if (name.starts_with(other.ours + ".") && name.rfind('.') == other.ours.size()) {
        name = other.theirs + name.substr(other.ours.size());
        break;
      }
    }
    views.push_back({name, built.tensors[i].dtype, built.tensors[i].shape, {}});
  }
  return views;
}

TEST(BuiltFamilies, FilesOfWeightsAreRecognisedInBothLibrariesNames) {
  const ModelInput other = {.image = {.height = 64, .width = 64, .channels = 1}, .classes = 3};
  for (const std::string& name : all_members()) {
    const BuiltGraph built = graph_of(name, other);
    EXPECT_EQ(built_network_of(empty_tensors(built, true)), name);
    EXPECT_EQ(built_network_of(empty_tensors(built, false)), name);
    EXPECT_EQ(published_classes(empty_tensors(built, false), name), 3);
    std::vector<TensorView> lacking = empty_tensors(built, true);
    lacking.erase(lacking.begin());
    EXPECT_EQ(built_network_of(lacking), std::nullopt) << name;
  }
}

TEST(BuiltFamilies, StagesAreThoseOfTheNames) {
  const auto stages = [](const char* name) {
    const GraphLayout layout = lay_out(graph_of(name, kSmallPhotographs).graph, "", name);
    std::vector<std::string> names;
    for (const GraphLayout::Stage& stage : layout.stages) names.push_back(stage.name);
    names.push_back(layout.head_name);
    return names;
  };
  EXPECT_THAT(stages("convnext_atto"), ElementsAre("stem", "stages.0", "stages.1", "stages.2",
                                                   "stages.3", "head", "head.fc"));
  EXPECT_THAT(stages("regnet_y_400mf"),
              ElementsAre("stem", "trunk_output.block1", "trunk_output.block2",
                          "trunk_output.block3", "trunk_output.block4", "fc"));
  EXPECT_THAT(stages("efficientnet_b0"),
              ElementsAre("features.0", "features.1", "features.2", "features.3", "features.4",
                          "features.5", "features.6", "features.7", "features.8", "classifier.1"));
  const std::vector<std::string> vit = stages("vit_tiny_patch16_224");
  ASSERT_EQ(vit.size(), 15U);
  EXPECT_EQ(vit[0], "patch_embed");
  EXPECT_EQ(vit[12], "blocks.11");
  const std::vector<std::string> mobile = stages("mobilenet_v3_small");
  ASSERT_EQ(mobile.size(), 15U);
  EXPECT_EQ(mobile[13], "classifier");
  EXPECT_EQ(mobile[14], "classifier.3");
}

std::vector<double> kept_by(const char* name, double drop_path) {
  std::vector<double> kept;
  for (const GraphNode& node : graph_of(name, kSmallPhotographs, drop_path).graph.nodes) {
    if (node.target == "aten::bernoulli_.float") {
      kept.push_back(*number_argument(node.arguments, "p"));
    }
  }
  return kept;
}

TEST(BuiltFamilies, StochasticDepthGrowsWithTheDepth) {
  const std::vector<double> convnext = kept_by("convnext_atto", 0.22);
  ASSERT_EQ(convnext.size(), 11U);  // 12 blocks, of which the first drops nothing
  for (std::size_t i = 0; i < convnext.size(); ++i) {
    EXPECT_DOUBLE_EQ(convnext[i], 1 - 0.22 * static_cast<double>(i + 1) / 11);
  }
  const std::vector<double> vit = kept_by("vit_tiny_patch16_224", 0.22);
  ASSERT_EQ(vit.size(), 22U);  // attention and dense layers
  EXPECT_DOUBLE_EQ(vit[0], vit[1]);
  EXPECT_DOUBLE_EQ(vit.back(), 1 - 0.22);
  // EfficientNet drops in the 9 of its 16 blocks that add their input; the last such is number 14.
  const std::vector<double> efficientnet = kept_by("efficientnet_b0", 0.16);
  ASSERT_EQ(efficientnet.size(), 9U);
  EXPECT_DOUBLE_EQ(efficientnet[0], 1 - 0.16 * 2 / 16);
  EXPECT_DOUBLE_EQ(efficientnet.back(), 1 - 0.16 * 14 / 16);
  EXPECT_EQ(kept_by("regnet_y_400mf", 0.1).size(), 15U);
  EXPECT_TRUE(kept_by("regnet_y_400mf", 0).empty());
}

TEST(BuiltFamilies, WhatCannotBeIsRefused) {
  const auto refusal = [](const char* name, const ModelInput& input, double drop_path = 0) {
    return message_of(
        [&] { static_cast<void>(make_model(name, input, 1, {.drop_path = drop_path})); });
  };
  EXPECT_THAT(refusal("mobilenet_v3_small", kSmallPhotographs, 0.1),
              HasSubstr("mobilenet_v3_small has no stochastic depth"));
  EXPECT_THAT(refusal("resnet18", kSmallPhotographs, 0.1), HasSubstr("`drop_path` 0.1"));
  EXPECT_THAT(refusal("some.pt2", kSmallPhotographs, 0.1), HasSubstr("drop_path_rate=0.1"));
  EXPECT_THAT(refusal("vit_tiny_patch16_224", {.image = {40, 32, 3}, .classes = 5}),
              HasSubstr("multiples of 16"));
  EXPECT_THAT(refusal("convnext_atto", {.image = {31, 32, 3}, .classes = 5}),
              HasSubstr("at least 32x32"));
  EXPECT_THAT(refusal("convnext_atto:2", kSmallPhotographs), HasSubstr("convnext_atto|femto"));
  EXPECT_THAT(refusal("convnext_tinny", kSmallPhotographs),
              HasSubstr("Did you mean convnext_tiny?"));
}

// GraphBuilder.SameSeedSameWeights shows that tensors are drawn so.
void expect_start(const char* architecture, const std::string& name, InitialValues::Kind kind,
                  double value) {
  const BuiltGraph built = graph_of(architecture, kSmallPhotographs);
  const auto place = std::ranges::find(built.graph.inputs, name, &GraphInput::name);
  ASSERT_NE(place, built.graph.inputs.end()) << name;
  const InitialValues& initial =
      built.tensors[static_cast<std::size_t>(place - built.graph.inputs.begin())].initial;
  EXPECT_EQ(initial.kind, kind) << name;
  EXPECT_NEAR(initial.value, value, 1e-12) << name;
}

TEST(BuiltFamilies, WeightsStartAsTheReferencesDo) {
  using enum InitialValues::Kind;
  expect_start("convnext_atto", "stages.2.blocks.0.mlp.fc1.weight", kNormal, 0.02);
  expect_start("convnext_atto", "stages.2.blocks.0.gamma", kConstant, 1e-6);
  expect_start("vit_tiny_patch16_224", "blocks.3.attn.qkv.weight", kNormal, 0.02);
  expect_start("vit_tiny_patch16_224", "pos_embed", kNormal, 0.02);
  expect_start("vit_tiny_patch16_224", "cls_token", kNormal, 1e-6);
  expect_start("vit_tiny_patch16_224", "patch_embed.proj.weight", kUniform, 1 / std::sqrt(768.0));
  expect_start("vit_tiny_patch16_224", "patch_embed.proj.bias", kUniform, 1 / std::sqrt(768.0));
  expect_start("efficientnet_b0", "features.8.0.weight", kNormal, std::sqrt(2 / 1280.0));
  expect_start("efficientnet_b0", "features.2.0.block.1.0.weight", kNormal,
               std::sqrt(2 / (9 * 96.0)));
  expect_start("efficientnet_b0", "features.2.0.block.2.fc1.bias", kConstant, 0);
  expect_start("efficientnet_b0", "classifier.1.weight", kUniform, 1 / std::sqrt(5.0));
  expect_start("mobilenet_v3_small", "classifier.0.weight", kNormal, 0.01);
  expect_start("regnet_y_400mf", "trunk_output.block4.block4-3.f.c.0.weight", kNormal,
               std::sqrt(2 / 440.0));
  expect_start("regnet_y_400mf", "trunk_output.block4.block4-3.f.se.fc1.bias", kUniform,
               1 / std::sqrt(440.0));
  expect_start("regnet_y_400mf", "fc.weight", kNormal, 0.01);
}

TEST(BuiltFamilies, CountersOfBatchesMayBeMissing) {
  const TempFolder folder;
  const auto model = make_model("mobilenet_v3_small", kSmallPhotographs, 1),
             other = make_model("mobilenet_v3_small", kSmallPhotographs, 2);
  std::vector<NamedTensor> tensors = all_tensors(*model);
  std::erase_if(tensors,
                [](const NamedTensor& one) { return one.name.ends_with(".num_batches_tracked"); });
  const auto path = folder.path() / "weights.pth";
  write_torch_file(path, FileTensors(tensors).views());
  EXPECT_EQ(architecture_of_weights(path), "mobilenet_v3_small");
  load_pretrained(*other, path);
  const at::Tensor images = at::rand({2, 3, 32, 48});
  EXPECT_TRUE(at::equal(model->forward(images), other->forward(images)));
  tensors.erase(tensors.begin());
  write_torch_file(path, FileTensors(tensors).views());
  EXPECT_THROW(load_pretrained(*other, path), Error);
}

// A row of tokens for each 16 pixels, also where images are not square.
TEST(BuiltFamilies, ActivationsOfTokensHaveTheImagesShape) {
  const auto model = make_model("vit_tiny_patch16_224", {.image = {32, 128, 3}, .classes = 5}, 1);
  const at::Tensor maps =
      model->class_activation(at::rand({2, 3, 32, 128}), at::zeros({2}, at::kLong));
  EXPECT_THAT(maps.sizes().vec(), ElementsAre(2, 2, 8));
}

// Grey images as three equal channels, or as one channel with the sum of the weights.
TEST(BuiltFamilies, WeightsForThreeChannelsServeOne) {
  const TempFolder folder;
  ModelInput grey = kSmallPhotographs;
  grey.image.channels = 1;
  const at::Tensor images = at::rand({2, 1, 32, 48});
  for (const char* name : {"convnext_atto", "mobilenet_v3_small"}) {
    const auto coloured = make_model(name, kSmallPhotographs, 1), one = make_model(name, grey, 2);
    const auto path = folder.path() / "weights.pth";
    const std::vector<NamedTensor> tensors = all_tensors(*coloured);
    write_torch_file(path, FileTensors(tensors).views());
    EXPECT_EQ(architecture_of_weights(path), name);
    load_pretrained(*one, path);
    EXPECT_TRUE(at::allclose(one->forward(images), coloured->forward(images.expand({2, 3, 32, 48})),
                             1e-4, 1e-5))
        << name;
  }
}

TEST(BuiltFamilies, PositionsOfAnotherGridAreResampled) {
  const at::Tensor flat = at::full({1, 17, 3}, 0.25);
  EXPECT_TRUE(at::allclose(resampled_positions(flat, 2, 6, 1), at::full({1, 13, 3}, 0.25)));
  EXPECT_FALSE(resampled_positions(at::zeros({1, 16, 3}), 2, 6, 1).defined());
  EXPECT_FALSE(resampled_positions(at::zeros({1, 1, 3}), 2, 6, 1).defined());
}

}  // namespace
}  // namespace stoker
