#include "stoker/nn/model_file.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

const ModelInput kModelFileInput = {.image = {.height = 8, .width = 9, .channels = 1},
                                    .classes = 3};
const std::vector<std::string> kNames = {"clean", "dirty", "größer \"x\""};
const Preprocessing kPreprocessing = {.mean = {0.1307, 0.2, 0.3}, .deviation = {0.3081, 1, 2}};

std::filesystem::path saved(const TempFolder& folder, const char* architecture) {
  const auto path = folder.path() / "model.safetensors";
  save_model(path, *make_model(architecture, kModelFileInput, 5), kNames, kPreprocessing);
  return path;
}

TEST(ModelFile, BringsBackTheModelAndItsCard) {
  const TempFolder folder;
  for (const char* architecture : {"mlp:72,5,3:relu", "cnn:4,8"}) {
    const LoadedModel loaded = load_model(saved(folder, architecture));
    EXPECT_EQ(loaded.card.class_names, kNames);
    EXPECT_EQ(loaded.card.preprocessing, kPreprocessing);
    EXPECT_EQ(loaded.card.input, kModelFileInput);
    const auto original = make_model(architecture, kModelFileInput, 5);
    const at::Tensor x = at::rand({2, 1, 8, 9});
    EXPECT_TRUE(at::equal(loaded.model->forward(x), original->forward(x)));
  }
}

TEST(ModelFile, TheSameModelMakesTheSameBytes) {
  const TempFolder a, b;
  EXPECT_EQ(contents_of(saved(a, "cnn:4,8")), contents_of(saved(b, "cnn:4,8")));
}

TEST(ModelFile, WeightsThatAreNoNumbersAreRefusedByName) {
  const TempFolder folder;
  const auto path = folder.path() / "model.safetensors";
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    const auto model = make_model("cnn:4,8", kModelFileInput, 5);
    all_tensors(*model)[1].tensor.detach()[2] = bad;
    save_model(path, *model, kNames, kPreprocessing);
    try {
      static_cast<void>(load_model(path));
      FAIL() << "loaded a weight of " << bad;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("1 of 4 values of " + all_tensors(*model)[1].name), std::string::npos)
          << message;
      EXPECT_NE(message.find("`allow_nonfinite`"), std::string::npos);
    }
    const LoadedModel loaded = load_model(path, /*allow_nonfinite=*/true);
    EXPECT_FALSE(at::isfinite(all_tensors(*loaded.model)[1].tensor[2]).item<bool>());
  }
}

SafetensorsMetadata metadata_with(const std::string& key, const std::string& value) {
  SafetensorsMetadata metadata = {{"stoker.architecture", "mlp:72,5,3"},
                                  {"stoker.image", "8x9x1"},
                                  {"stoker.classes", R"(["a","b","c"])"},
                                  {"stoker.mean", "[0,0,0]"},
                                  {"stoker.std", "[1,1,1]"}};
  metadata[key] = value;
  return metadata;
}

TEST(ModelFile, AMetadataThatMakesNoSenseIsAnErrorWithItsKey) {
  EXPECT_NO_THROW(static_cast<void>(read_card(metadata_with("other", "x"), "f")));
  const std::pair<const char*, const char*> wrong[] = {
      {"stoker.image", "8x9"},          {"stoker.image", "8x9x1x"},    {"stoker.image", "0x9x1"},
      {"stoker.image", "99999999x9x1"}, {"stoker.classes", "[]"},      {"stoker.classes", "[1]"},
      {"stoker.classes", "[\"a\""},     {"stoker.mean", "[0,0]"},      {"stoker.std", "[0,1,1]"},
      {"stoker.std", "[-1,1,1]"},       {"stoker.mean", "[1e999,0,0]"}};
  for (const auto& [key, value] : wrong) {
    EXPECT_THROW(static_cast<void>(read_card(metadata_with(key, value), "f")), Error)
        << key << " " << value;
  }
  EXPECT_THROW(static_cast<void>(read_card({}, "f")), Error);
}

ModelCard card_of_task(Task task) {
  return {.architecture = "mlp:72,3",
          .input = kModelFileInput,
          .class_names = kNames,
          .preprocessing = kPreprocessing,
          .task = task};
}

TEST(ModelFile, AClassifiersFileSaysNothingOfTasks) {
  for (const auto& [key, value] : card_metadata(card_of_task(Task::kClassify))) {
    EXPECT_EQ(key.find("task"), std::string::npos) << key;
    EXPECT_EQ(key.find("target"), std::string::npos) << key;
    EXPECT_EQ(key.find("threshold"), std::string::npos) << key;
  }
}

TEST(ModelFile, BringsBackTaskThresholdsAndScale) {
  ModelCard card = card_of_task(Task::kMultilabel);
  EXPECT_TRUE(read_card(card_metadata(card), "f").thresholds.empty());
  card.thresholds = {0.1, 0, 1};
  ModelCard back = read_card(card_metadata(card), "f");
  EXPECT_EQ(back.task, Task::kMultilabel);
  EXPECT_EQ(back.thresholds, card.thresholds);
  card = card_of_task(Task::kRegress);
  card.target_mean = {2000.1, -1e-30, 0};
  card.target_std = {1.0 / 3, 1e-9, 1};
  back = read_card(card_metadata(card), "f");
  EXPECT_EQ(back.task, Task::kRegress);
  EXPECT_EQ(back.target_scale(), card.target_scale());
  card.target_std.pop_back();
  EXPECT_THROW((void)card_metadata(card), InvariantError);
}

TEST(ModelFile, ATasksNumbersAreChecked) {
  const auto message = [](SafetensorsMetadata metadata) {
    return message_of([&] { (void)read_card(metadata, "f"); });
  };
  const auto with = [](ModelCard card, const char* key, const char* value) {
    SafetensorsMetadata metadata = card_metadata(card);
    metadata[key] = value;
    return metadata;
  };
  const ModelCard labels = card_of_task(Task::kMultilabel);
  EXPECT_NE(message(with(labels, "stoker.task", "segment")).find("classify, multilabel, regress"),
            std::string::npos);
  for (const char* wrong : {"[0.5,0.5]", "[0.5,0.5,0.5,0.5]", "[0.5,0.5,1.5]", "[0.5,0.5,-1]",
                            "[0.5,0.5,null]", "[0.5,0.5,\"x\"]", "0.5", "["}) {
    EXPECT_NE(message(with(labels, "stoker.thresholds", wrong)).find("thresholds"),
              std::string::npos)
        << wrong;
  }
  ModelCard numbers = card_of_task(Task::kRegress);
  numbers.target_mean = {0, 0, 0};
  numbers.target_std = {1, 1, 1};
  for (const char* wrong : {"[1,1]", "[1,1,1e999]", "[1,1,null]", "{}"}) {
    EXPECT_NE(message(with(numbers, "stoker.target_mean", wrong)).find("target_mean"),
              std::string::npos)
        << wrong;
  }
  EXPECT_NE(message(with(numbers, "stoker.target_std", "[1,1,0]")).find("target_std"),
            std::string::npos);
  SafetensorsMetadata without = card_metadata(numbers);
  without.erase("stoker.target_std");
  EXPECT_NE(message(without).find("target_std"), std::string::npos);
}

TEST(ModelFile, TensorsMustBeExactlyTheArchitectures) {
  const TempFolder folder;
  const auto path = saved(folder, "mlp:72,5,3");
  const SafetensorsFile file(path);
  const auto expect_error = [&](const std::vector<NamedTensor>& tensors, const char* word) {
    const ErrorDetails error = error_of([&] { read_tensors(tensors, file, path.string()); });
    EXPECT_NE(to_string(error).find(word), std::string::npos) << to_string(error);
  };
  expect_error(all_tensors(*make_model("mlp:72,6,3", kModelFileInput, 1)), "(72, 6)");
  const auto fitting = make_model("mlp:72,5,3", kModelFileInput, 1);
  std::vector<NamedTensor> tensors = all_tensors(*fitting);
  EXPECT_NO_THROW(read_tensors(tensors, file, path.string()));
  tensors.push_back({"layers.2.weight", at::zeros({3})});
  expect_error(tensors, "layers.2.weight as F32 (3), got no tensor of that name");
  tensors.resize(3);
  expect_error(tensors, "also layers.1.bias");
}

TEST(ModelFile, OtherClassesAreNamed) {
  const auto message = [](const std::vector<std::string>& data) {
    return message_of([&] { check_class_names(kNames, data, "m"); });
  };
  EXPECT_NO_THROW(check_class_names(kNames, kNames, "m"));
  EXPECT_NE(message({"dirty", "clean", "x"}).find("\"clean\" for class 0"), std::string::npos);
  EXPECT_NE(message({"clean"}).find("only 1 classes"), std::string::npos);
}

TEST(ModelFile, OtherTargetsAreNamed) {
  const std::string message =
      message_of([] { check_class_names({"angle"}, {"length"}, "m", Task::kRegress); });
  EXPECT_NE(message.find("\"angle\" for target 0 of 1"), std::string::npos) << message;
}

}  // namespace
}  // namespace stoker
