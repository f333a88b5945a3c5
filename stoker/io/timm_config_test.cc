#include "stoker/io/timm_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string config_refusal(const std::string& json) {
  try {
    static_cast<void>(parse_timm_config(json, "config.json"));
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}
std::string member_refusal(const std::string& member) {
  return config_refusal(R"({"architecture":"resnet18","pretrained_cfg":{)" + member + "}}");
}

TEST(TimmConfig, ReadsWhatItWrites) {
  const TimmConfig config{.architecture = "mobilenetv2_100",
                          .classes = 2,
                          .features = 1280,
                          .first_conv = "conv_stem",
                          .classifier = "classifier",
                          .image = {3, 96, 64},
                          .mean = {0.5, 0.25, 0.125},
                          .deviation = {0.1, 0.2, 0.3},
                          .interpolation = "bilinear",
                          .crop = 0.9,
                          .crop_mode = "squash",
                          .class_names = {"Löwe", "\"tiger\""}};
  EXPECT_EQ(parse_timm_config(timm_config_text(config), "config.json"), config);
}

TEST(TimmConfig, TakesTimmsDefaultsAndDropsTheTag) {
  const TimmConfig config = parse_timm_config(R"({"architecture":"resnet50.a1_in1k"})", "c");
  EXPECT_EQ(config.architecture, "resnet50");
  EXPECT_EQ(config.classes, 1000);
  EXPECT_EQ(config.interpolation, "bicubic");
  EXPECT_EQ(config.crop, 0.875);
  EXPECT_TRUE(config.class_names.empty());
}

TEST(TimmConfig, TheOuterNumberOfClassesCountsAndLabelsMayHaveGaps) {
  const TimmConfig config = parse_timm_config(
      R"({"architecture":"resnet18","num_classes":3,"label_names":{"2":"c","0":"a"},
          "pretrained_cfg":{"num_classes":1000,"first_conv":["conv1.0"],"mean":null}})",
      "c");
  EXPECT_EQ(config.classes, 3);
  EXPECT_THAT(config.class_names, ElementsAre("a", "1", "c"));
}

TEST(TimmConfig, OldFilesHaveOneObject) {
  const TimmConfig config = parse_timm_config(
      R"({"architecture":"resnet18","num_classes":2,"input_size":[3,64,64],"crop_pct":1})", "c");
  EXPECT_EQ(config.image[1], 64);
  EXPECT_EQ(config.crop, 1);
}

TEST(TimmConfig, RefusesWhatItDoesNotUnderstand) {
  EXPECT_THAT(config_refusal("[]"), HasSubstr("an object"));
  EXPECT_THAT(config_refusal("{"), HasSubstr("cannot read config.json"));
  EXPECT_THAT(config_refusal(std::string(100, '[')), HasSubstr("levels of nesting"));
  EXPECT_THAT(config_refusal(std::string((64U << 20) + 1, ' ')),
              HasSubstr("at most 67108864 bytes"));
  EXPECT_THAT(config_refusal("{}"), HasSubstr("architecture"));
  EXPECT_THAT(config_refusal(R"({"architecture":"../../x"})"), HasSubstr("a network's name"));
  EXPECT_THAT(config_refusal(R"({"architecture":7})"), HasSubstr("a short text"));
  EXPECT_THAT(config_refusal(R"({"architecture":"resnet18","model_args":{"width":2}})"),
              HasSubstr("change the network"));
  EXPECT_THAT(config_refusal(R"({"architecture":"resnet18","pretrained_cfg":3})"),
              HasSubstr("pretrained_cfg"));
  EXPECT_THAT(member_refusal(R"("label_offset":1)"), HasSubstr("label_offset"));
  EXPECT_THAT(member_refusal(R"("num_classes":0)"), HasSubstr("num_classes"));
  EXPECT_THAT(member_refusal(R"("num_classes":1e18)"), HasSubstr("num_classes"));
  EXPECT_THAT(member_refusal(R"("num_classes":4294967296)"), HasSubstr("num_classes"));
  EXPECT_THAT(member_refusal(R"("input_size":[3,224])"), HasSubstr("three sizes"));
  EXPECT_THAT(member_refusal(R"("input_size":[3,224,100000])"), HasSubstr("1 to 4096"));
  EXPECT_THAT(member_refusal(R"("std":[1,1,0])"), HasSubstr("std"));
  EXPECT_THAT(member_refusal(R"("mean":["a",1,0])"), HasSubstr("mean"));
  EXPECT_THAT(member_refusal(R"("crop_pct":-1)"), HasSubstr("crop_pct"));
}

TEST(TimmConfig, RefusesLabelsThatDoNotFit) {
  const std::string begin = R"({"architecture":"resnet18","num_classes":2,"label_names":)";
  EXPECT_THAT(config_refusal(begin + R"(["a"]})"), HasSubstr("2 names"));
  EXPECT_THAT(config_refusal(begin + R"(["a",3]})"), HasSubstr("short texts"));
  EXPECT_THAT(config_refusal(begin + R"({"2":"a"}})"), HasSubstr("numbers below 2"));
  EXPECT_THAT(config_refusal(begin + R"({"x":"a"}})"), HasSubstr("numbers below 2"));
  EXPECT_THAT(config_refusal(begin + R"("a"})"), HasSubstr("a list of names"));
  EXPECT_THAT(config_refusal(begin + "[\"a\",\"" + std::string(2000, 'x') + "\"]}"),
              HasSubstr("short texts"));
}

}  // namespace
}  // namespace stoker
