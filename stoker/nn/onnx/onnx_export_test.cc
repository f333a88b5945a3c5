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
#include "stoker/nn/onnx/onnx_layers.h"

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
    if (!family.members.empty()) continue;                       // graphs (nn/families)
    EXPECT_THAT(exported(family.name), HasSubstr("BatchNormalization")) << family.name;
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

TEST(OnnxExport, AMatrixOfMeansIsTheAdaptivePool) {
  // The pooling of 25x50 to 7x7 as constants of the graph, against LibTorch's.
  const at::Tensor x = at::rand({2, 3, 25, 50});
  OnnxGraph graph("pool");
  const OnnxValue pooled = onnx_adaptive_average_pool(
      graph, "pool", {"x"}, {.height = 25, .width = 50, .out_height = 7, .out_width = 7});
  EXPECT_EQ(pooled.name, "MatMul_1");
  const std::string file = graph.encode();
  const auto matrix = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    // Nodes come before constants. The values follow the name, the field's number and a length of
    // two bytes.
    const std::size_t at = file.rfind(name) + std::string_view(name).size() + 3;
    return at::from_blob(const_cast<char*>(file.data()) + at, {rows, columns}, at::kFloat).clone();
  };
  const at::Tensor found =
      at::matmul(at::matmul(matrix("pool.rows", 7, 25), x), matrix("pool.columns", 50, 7));
  EXPECT_TRUE(at::allclose(found, at::adaptive_avg_pool2d(x, {7, 7}), 1e-5, 1e-6));
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
