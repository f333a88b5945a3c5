#include "stoker/nn/networks/pretrained.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/io/torch_file.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ModelInput kPretrainedInput = {.image = {.height = 32, .width = 40, .channels = 3},
                                     .classes = 3};

// What torchvision publishes: tensors and nothing else.
std::filesystem::path published(const TempFolder& folder, const Model& model) {
  const std::vector<NamedTensor> tensors = all_tensors(model);
  const auto path = folder.path() / "weights.pth";
  write_torch_file(path, FileTensors(tensors).views());
  return path;
}

ModelCard card_of(std::string architecture, std::vector<std::string> class_names = {}) {
  return {.architecture = std::move(architecture),
          .input = {.image = kPretrainedInput.image},
          .class_names = std::move(class_names),
          .preprocessing = {.mean = {0.1, 0.2, 0.3}, .framing = "resize(32,40)"}};
}

TEST(Published, TheModelIsTheFiles) {
  const TempFolder folder;
  const auto model = make_model("mobilenet_v2", kPretrainedInput, 7);
  const LoadedModel loaded =
      load_published(published(folder, *model), card_of("mobilenet_v2", {"a", "b", "c"}));
  const at::Tensor x = at::rand({2, 3, 32, 40});
  EXPECT_TRUE(at::equal(loaded.model->forward(x), model->forward(x)));
  EXPECT_EQ(loaded.card.input, kPretrainedInput);
  EXPECT_THAT(loaded.card.class_names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(loaded.card.preprocessing, card_of("").preprocessing);
}

TEST(Published, WeightsThatAreNoNumbersAreRefusedAndLeaveTheModelAsItWas) {
  const TempFolder folder;
  const auto damaged = make_model("mobilenet_v2", kPretrainedInput, 7);
  all_tensors(*damaged)[3].tensor.detach().flatten()[0] = std::nan("");
  const auto path = published(folder, *damaged);
  EXPECT_THROW(static_cast<void>(load_published(path, card_of("mobilenet_v2", {"a", "b", "c"}))),
               Error);
  const auto model = make_model("mobilenet_v2", kPretrainedInput, 8),
             same = make_model("mobilenet_v2", kPretrainedInput, 8);
  EXPECT_THROW(load_pretrained(*model, path), Error);
  EXPECT_TRUE(at::equal(all_tensors(*model)[0].tensor, all_tensors(*same)[0].tensor));
  load_pretrained(*model, path, /*allow_nonfinite=*/true);
  EXPECT_TRUE(at::equal(all_tensors(*model)[0].tensor, all_tensors(*damaged)[0].tensor));
}

TEST(Published, ClassesWithoutNamesAreNumbered) {
  const TempFolder folder;
  const auto path = published(folder, *make_model("resnet18", kPretrainedInput, 7));
  EXPECT_THAT(load_published(path, card_of("resnet18")).card.class_names,
              ElementsAre("0", "1", "2"));
}

TEST(Published, WithSeveralLinearLayersTheClassesNeedNames) {
  const TempFolder folder;
  const auto path = published(folder, *make_model("mlp:3840,5,3", kPretrainedInput, 7));
  EXPECT_THAT(message_of([&] { (void)load_published(path, card_of("mlp:3840,5,3")); }),
              HasSubstr("2 matrices"));
  EXPECT_EQ(load_published(path, card_of("mlp:3840,5,3", {"a", "b", "c"})).card.input,
            kPretrainedInput);
}

TEST(Published, AHeadForOtherClassesIsAnErrorNotReplaced) {
  const TempFolder folder;
  const auto path = published(folder, *make_model("resnet18", kPretrainedInput, 7));
  EXPECT_THAT(message_of([&] {
                (void)load_published(path, card_of("resnet18", {"a", "b"}));
              }),
              HasSubstr("all tensors of resnet18 for 2 classes"));
}

TEST(Published, AnotherNetworksFileIsAnError) {
  const TempFolder folder;
  const auto path = published(folder, *make_model("resnet18", kPretrainedInput, 7));
  EXPECT_THAT(message_of([&] { (void)load_published(path, card_of("mobilenet_v2")); }),
              HasSubstr("missing"));
  EXPECT_THAT(message_of([&] { (void)load_published(path, card_of("resnet34")); }),
              HasSubstr("missing"));
}

TEST(Published, AMissingFileIsNamedWithWhereToGetIt) {
  EXPECT_THAT(message_of([&] { (void)load_published("no.pth", card_of("resnet50")); }),
              HasSubstr("resnet50-0676ba61.pth"));
}

}  // namespace
}  // namespace stoker
