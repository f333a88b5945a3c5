#include "stoker/nn/timm/timm_model.h"

#include <fstream>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/networks/weights_architecture.h"

namespace stoker {
namespace {

using testing::ElementsAre;

const ModelInput kTimmInput = {.image = {.height = 32, .width = 32, .channels = 3}, .classes = 2};

ModelCard timm_card(const Model& model) {
  return {.architecture = model.architecture(),
          .input = kTimmInput,
          .class_names = {"a", "b"},
          .preprocessing = {.mean = {0.1, 0.2, 0.3},
                            .deviation = {0.4, 0.5, 0.6},
                            .framing = "resize_crop(36,32,3)"}};
}

TEST(TimmModel, AFolderIsTheModel) {
  const TempFolder folder;
  const auto model = make_model("mobilenet_v2", kTimmInput, 5);
  const ModelCard card = timm_card(*model);
  write_timm_folder(folder.path() / "out", *model, card);
  const auto weights = folder.path() / "out" / "model.safetensors";
  const LoadedModel loaded = load_described_model(weights);
  const at::Tensor x = at::rand({2, 3, 32, 32});
  EXPECT_TRUE(at::equal(loaded.model->forward(x), model->forward(x)));
  EXPECT_THAT(loaded.card.class_names, ElementsAre("a", "b"));
  EXPECT_EQ(loaded.card.preprocessing.framing, card.preprocessing.framing);
  EXPECT_EQ(loaded.card.preprocessing.mean[1], 0.2);
  EXPECT_EQ(architecture_of_weights(weights), "mobilenet_v2");
  const auto other = make_model("mobilenet_v2", {.image = kTimmInput.image, .classes = 7}, 6);
  EXPECT_THAT(load_pretrained(*other, weights), testing::HasSubstr("the head has another shape"));
  EXPECT_TRUE(at::equal(other->features(x), model->features(x))) << "the body is the file's";
}

TEST(TimmModel, WhatTimmCannotUseIsRefusedBeforeAnythingIsWritten) {
  const TempFolder folder;
  const auto model = make_model("mobilenet_v2", kTimmInput, 5);
  ModelCard card = timm_card(*model);
  card.task = Task::kMultilabel;
  EXPECT_THROW(write_timm_folder(folder.path() / "out", *model, card), Error);
  card = timm_card(*model);
  card.preprocessing.framing = "random_resized_crop(32,1,1,1,1)";
  EXPECT_THROW(write_timm_folder(folder.path() / "out", *model, card), Error);
  const auto small = make_model("cnn:8", kTimmInput, 5);
  EXPECT_THROW(write_timm_folder(folder.path() / "out", *small, timm_card(*small)), Error);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST(TimmModel, ADamagedFolderIsRefused) {
  const TempFolder folder;
  const auto model = make_model("mobilenet_v2", kTimmInput, 5);
  write_timm_folder(folder.path(), *model, timm_card(*model));
  const auto weights = folder.path() / "model.safetensors";
  std::ofstream(folder.path() / "config.json") << R"({"architecture":"resnet18"})";
  EXPECT_THROW(static_cast<void>(load_described_model(weights)), Error) << "another network";
  std::ofstream(folder.path() / "config.json") << R"({"architecture":"mobilenetv2_100"})";
  EXPECT_THROW(static_cast<void>(load_described_model(weights)), Error) << "1000 classes";
  std::ofstream(folder.path() / "config.json") << "{";
  EXPECT_THROW(static_cast<void>(load_described_model(weights)), Error);
}

}  // namespace
}  // namespace stoker
