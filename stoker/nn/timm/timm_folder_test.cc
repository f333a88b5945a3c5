#include "stoker/nn/timm/timm_folder.h"

#include <array>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using testing::HasSubstr;

TimmFolder folder_of(TimmConfig config) { return {std::move(config), nullptr, "config.json"}; }

std::string framing_refusal(const TimmConfig& config) {
  try {
    return timm_framing(folder_of(config));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TimmFolder, PoliciesDoWhatTimmDoes) {
  EXPECT_EQ(timm_framing(folder_of({})), "resize_crop(256,224,3)");
  EXPECT_EQ(timm_framing(folder_of({.interpolation = "bilinear", .crop = 0.95})),
            "resize_crop(235,224)");
  EXPECT_EQ(timm_framing(folder_of({.image = {3, 64, 96}, .crop = 1, .crop_mode = "squash"})),
            "resize(64,96,3)");
}

TEST(TimmFolder, WhatNoPolicyDoesIsRefused) {
  EXPECT_THAT(framing_refusal({.interpolation = "hamming"}), HasSubstr("hamming"));
  EXPECT_THAT(framing_refusal({.crop_mode = "border"}), HasSubstr("border"));
  EXPECT_THAT(framing_refusal({.crop = 0.9, .crop_mode = "squash"}), HasSubstr("squash with 0.9"));
  EXPECT_THAT(framing_refusal({.image = {3, 64, 96}}), HasSubstr("a square"));
  EXPECT_THAT(framing_refusal({.crop = 1.2}), HasSubstr("at most 1"));
  EXPECT_THROW(static_cast<void>(timm_preprocessing(folder_of({.image = {1, 224, 224}}))), Error);
}

TEST(TimmFolder, EveryFramingComesBack) {
  TimmSubject subject{.architecture = "resnet18",
                      .image = {.height = 224, .width = 224, .channels = 3},
                      .class_names = {"a", "b"},
                      .preprocessing = {.mean = {0.5, 0.25, 0.125}, .deviation = {1, 2, 3, 1}}};
  for (int shorter = 224; shorter <= 1024; ++shorter) {
    subject.preprocessing.framing = fmt::format("resize_crop({},224,3)", shorter);
    const TimmFolder folder = folder_of(make_timm_config(subject));
    ASSERT_EQ(timm_preprocessing(folder), subject.preprocessing) << shorter;
  }
  subject.preprocessing.framing = "";
  EXPECT_EQ(timm_framing(folder_of(make_timm_config(subject))), "resize(224,224)");
  subject.preprocessing.framing = "random_resized_crop(224,0.08,1,0.75,1.3)";
  EXPECT_THROW(static_cast<void>(make_timm_config(subject)), Error);
  subject.preprocessing.framing = "";
  subject.architecture = "cnn:8";
  EXPECT_THROW(static_cast<void>(make_timm_config(subject)), Error);
}

TEST(TimmFolder, ImagesThatTimmDoesNotTakeAreRefused) {
  const auto message = [](const ImageShape& image, const std::string& window) {
    const TimmSubject subject{.architecture = "resnet18",
                              .image = image,
                              .class_names = {"a", "b"},
                              .preprocessing = {.window = window}};
    return message_of([&] { static_cast<void>(make_timm_config(subject)); });
  };
  EXPECT_THAT(message({224, 224, 1}, ""), HasSubstr("timm cannot use resnet18 as it is"));
  EXPECT_THAT(message({224, 224, 1}, ""), HasSubstr("got 1 channels of 8 bits"));
  EXPECT_THAT(message({224, 224, 3, 16}, ""), HasSubstr("got 3 channels of 16 bits"));
  EXPECT_THAT(message({224, 224, 3}, "100,4000"), HasSubstr("without a window"));
}

TEST(TimmFolder, TheFilterOfAFraming) {
  EXPECT_EQ(framing_filter("resize_crop(256,224,3)"), "bicubic");
  EXPECT_EQ(framing_filter("resize(256,224)"), "bilinear");
  EXPECT_EQ(framing_filter("random_resized_crop(8,1,1,1,1)"), "bilinear");
}

TEST(TimmFolder, ConfigBelongsToAFileOfTheForm) {
  const TempFolder folder;
  EXPECT_FALSE(timm_config_of(folder.path() / "model.safetensors"));
  std::ofstream(folder.path() / "config.json") << R"({"architecture":"vit_tiny"})";
  const auto config = timm_config_of(folder.path() / "model.safetensors");
  ASSERT_TRUE(config);
  EXPECT_FALSE(timm_config_of(folder.path() / "best.safetensors"));
  EXPECT_THROW(static_cast<void>(built_in_family(read_timm_folder(*config))), Error);
  std::ofstream(folder.path() / "config.json") << R"({"architecture":"mobilenetv2_100"})";
  EXPECT_EQ(built_in_family(read_timm_folder(*config)).architecture, "mobilenet_v2");
  std::ofstream(folder.path() / "config.json") << R"({"architectures":["OfAnotherLibrary"]})";
  EXPECT_FALSE(timm_config_of(folder.path() / "model.safetensors"));
  std::ofstream(folder.path() / "config.json") << "{";
  EXPECT_THROW(static_cast<void>(timm_config_of(folder.path() / "model.safetensors")), Error);
}

TEST(TimmFamilies, NamesGoThereAndBack) {
  const TimmFamily* family = find_timm_family("mobilenet_v2");
  ASSERT_NE(family, nullptr);
  EXPECT_EQ(find_family_of_timm("mobilenetv2_100"), family);
  std::vector<TensorView> tensors(3);
  tensors[0].name = "features.0.0.weight";
  tensors[1].name = "features.17.conv.3.running_var";
  tensors[2].name = "classifier.1.bias";
  std::vector<TensorView> timm = with_timm_names(*family, tensors);
  EXPECT_EQ(timm[0].name, "conv_stem.weight");
  EXPECT_EQ(timm[1].name, "blocks.6.0.bn3.running_var");
  EXPECT_EQ(timm[2].name, "classifier.bias");
  const std::vector<TensorView> back = with_own_names(*family, timm);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(back[i].name, tensors[i].name);
  timm.push_back(tensors[2]);
  EXPECT_THROW(static_cast<void>(with_own_names(*family, timm)), Error) << "both names";
}

TEST(TimmFamilies, NoNameComesTwice) {
  for (const TimmFamily& family : timm_families()) {
    EXPECT_EQ(find_timm_family(family.architecture), &family);
    EXPECT_EQ(find_family_of_timm(family.timm), &family);
  }
}

}  // namespace
}  // namespace stoker
