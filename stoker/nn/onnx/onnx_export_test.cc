// What the graph computes is compared with ONNX Runtime in tests/onnx_test.py; here is what it
// says.
#include "stoker/nn/onnx/onnx_export.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/io/onnx.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const ModelInput kExportInput = {.image = {.height = 50, .width = 36, .channels = 3}, .classes = 3};

ModelCard card_of(const Model& model) {
  return {.architecture = model.architecture(),
          .input = model.input(),
          .class_names = {"clean", "dirty", "größer"},
          .preprocessing = {
              .mean = {0.1307, 0.2, 0.3}, .deviation = {0.3081, 1, 2}, .framing = "resize(50,36)"}};
}

std::string exported(const std::string& architecture) {
  const auto model = make_model(architecture, kExportInput, 5);
  return encode_onnx(*model, card_of(*model));
}

TEST(OnnxExport, NamesEveryTensorOfTheModelFile) {
  for (const char* architecture : {"mlp:5400,5,3:relu", "cnn:4,8", "resnet18", "mobilenet_v2"}) {
    const std::string file = exported(architecture);
    for (const NamedTensor& named : all_tensors(*make_model(architecture, kExportInput, 5))) {
      // Nothing is computed from the number of batches.
      const bool counts = named.name.ends_with("num_batches_tracked");
      EXPECT_EQ(file.find(named.name) == std::string::npos, counts) << named.name;
    }
  }
}

TEST(OnnxExport, WritesEveryFamily) {
  for (const ModelFamily& family : model_families()) {
    if (family.name == "mlp" || family.name == "cnn") continue;  // above, with their sizes
    const std::string name = family.members.empty() ? family.name : family.members.front();
    const ModelInput input = {.image = {.height = 32, .width = 48, .channels = 3}, .classes = 3};
    const auto model = make_model(name, input, 5);
    EXPECT_THAT(encode_onnx(*model, card_of(*model)), HasSubstr("Gemm")) << name;
  }
}

TEST(OnnxExport, CarriesTheCardOfTheModelFile) {
  const std::string file = exported("cnn:4,8");
  for (const char* text :
       {"stoker.classes", R"(["clean","dirty","größer"])", "stoker.mean", "[0.1307,0.2,0.3]",
        "stoker.std", "stoker.framing", "resize(50,36)", "stoker.architecture", "cnn:4,8",
        "stoker.image", "50x36x3", "stoker.resize", "bilinear", "stoker.pixels", "RGB"}) {
    EXPECT_THAT(file, HasSubstr(text));
  }
}

TEST(OnnxExport, TheOutputIsWhatTheTaskPredicts) {
  const auto model = make_model("cnn:4,8", kExportInput, 5);
  ModelCard card = card_of(*model);
  const std::string classes = encode_onnx(*model, card);
  EXPECT_THAT(classes, HasSubstr("logits"));
  EXPECT_THAT(classes, Not(HasSubstr("Sigmoid")));
  card.task = Task::kMultilabel;
  card.thresholds = {0.25, 0.5, 0.75};
  const std::string labels = encode_onnx(*model, card);
  for (const char* text : {"probabilities", "Sigmoid", "stoker.task", "multilabel",
                           "stoker.thresholds", "[0.25,0.5,0.75]"}) {
    EXPECT_THAT(labels, HasSubstr(text));
  }
  EXPECT_THAT(labels, Not(HasSubstr("logits")));
  card.task = Task::kRegress;
  card.target_mean = {1, 2, 3};
  card.target_std = {4, 5, 6};
  const std::string numbers = encode_onnx(*model, card);
  for (const char* text : {"predictions", "Mul", "stoker.task", "regress", "stoker.target_mean",
                           "[1.0,2.0,3.0]", "stoker.target_std", "[4.0,5.0,6.0]"}) {
    EXPECT_THAT(numbers, HasSubstr(text));
  }
  EXPECT_THAT(numbers, Not(HasSubstr("logits")));
  EXPECT_THAT(numbers, Not(HasSubstr("thresholds")));
}

TEST(OnnxExport, NormalisesBytesOnRequest) {
  const auto model = make_model("cnn:4,8", kExportInput, 5);
  const std::string file = encode_onnx(*model, card_of(*model), {.with_preprocessing = true});
  for (const char* text : {"Cast", "stoker.scale", "stoker.offset", "RGB, bytes 0 to 255"}) {
    EXPECT_THAT(file, HasSubstr(text));
    EXPECT_THAT(exported("cnn:4,8"), Not(HasSubstr(text)));
  }
}

TEST(OnnxExport, RefusesToNormaliseImagesOf16Bits) {
  const ModelInput deep = {.image = {.height = 28, .width = 28, .channels = 1, .depth = 16},
                           .classes = 3};
  const auto model = make_model("cnn:4,8", deep, 5);
  EXPECT_THAT([&] { static_cast<void>(encode_onnx(*model, card_of(*model), {true})); },
              ::testing::ThrowsMessage<Error>(HasSubstr("8 bits")));
  EXPECT_THAT(encode_onnx(*model, card_of(*model)), HasSubstr("65535"));
}

TEST(OnnxExport, TheSameModelMakesTheSameBytes) {
  EXPECT_EQ(exported("cnn:4,8"), exported("cnn:4,8"));
}

TEST(OnnxExport, PoolsOnlyWhereTheImageIsLargerThanTheHead) {
  EXPECT_THAT(exported("cnn:4,8,8"), HasSubstr("MatMul"));  // 12x9 to 7x7: shares overlap
  const ModelInput even = {.image = {.height = 28, .width = 28, .channels = 1}, .classes = 3};
  const auto encode = [&](const char* architecture) {
    const auto model = make_model(architecture, even, 5);
    return encode_onnx(*model, card_of(*model));
  };
  EXPECT_THAT(encode("cnn:4,8"), HasSubstr("AveragePool"));  // 14x14
  EXPECT_THAT(encode("cnn:4,8,8"), Not(HasSubstr("AveragePool")));
  EXPECT_THAT(encode("cnn:4,8,8"), Not(HasSubstr("MatMul")));
}

TEST(OnnxExport, WritesWhatItEncodes) {
  const TempFolder folder;
  const auto model = make_model("cnn:4,8", kExportInput, 5);
  const auto out = folder.path() / "model.onnx";
  write_onnx(out, *model, card_of(*model));
  const Bytes bytes = contents_of(out);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), encode_onnx(*model, card_of(*model)));
}

}  // namespace
}  // namespace stoker
