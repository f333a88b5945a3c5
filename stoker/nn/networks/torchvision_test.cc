// Our networks beside what torchvision's computed in double precision from the same weights and
// golden_images: tests/golden/torchvision.json, written by tests/nets_test.py, which also compares
// the two directly wherever torchvision is installed.
#include <algorithm>
#include <cmath>
#include <fstream>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "stoker/core/test_files.h"
#include "stoker/nn/networks/registry.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSamples = 4, kClasses = 10;
const ModelInput kTorchvisionInput = {.image = {.height = 64, .width = 96, .channels = 3},
                                      .classes = kClasses};

const Json& golden(const std::string& name) {
  static const Json all = [] {
    std::ifstream file(std::filesystem::path(source_dir()) / "tests/golden/torchvision.json");
    return Json::parse(file);
  }();
  return all.at("networks").at(name);
}

// The same as in tests/nets_test.py: numbers in [-1, 1) that look random, from their places.
at::Tensor golden_images() {
  at::Tensor x =
      at::empty({kSamples, 3, kTorchvisionInput.image.height, kTorchvisionInput.image.width});
  auto* values = x.data_ptr<float>();
  for (std::uint32_t i = 0; i < x.numel(); ++i) {
    std::uint32_t h = i * 2654435761U;
    h = (h ^ h >> 15) * 2246822519U;
    h ^= h >> 13;
    values[i] = static_cast<float>(h >> 8) * 0x1p-23F - 1;
  }
  return x;
}

// The norm of all tensors together.
double norm_of(const std::vector<at::Tensor>& tensors) {
  double squares = 0;
  for (const at::Tensor& t : tensors) squares += t.to(at::kDouble).square().sum().item<double>();
  return std::sqrt(squares);
}

class BesideTorchvision : public testing::TestWithParam<const char*> {};

TEST_P(BesideTorchvision, NamesTypesAndShapesAreTheirs) {
  std::vector<std::string> lines;
  for (const NamedTensor& t : all_tensors(*make_model(GetParam(), kTorchvisionInput, 1))) {
    lines.push_back(fmt::format("{} {} [{}]", t.name,
                                t.tensor.scalar_type() == at::kLong ? "I64" : "F32",
                                fmt::join(t.tensor.sizes(), ", ")));
  }
  std::sort(lines.begin(), lines.end());
  const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  EXPECT_EQ(lines.size(), golden(GetParam()).at("tensors").get<std::size_t>());
  EXPECT_EQ(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()),
            golden(GetParam()).at("crc32").get<std::uint32_t>())
      << text;
}

TEST_P(BesideTorchvision, LogitsAreTheirs) {
  const at::Tensor found =
      make_model(GetParam(), kTorchvisionInput, 1)->forward(golden_images()).to(at::kDouble);
  const auto values = golden(GetParam()).at("logits").get<std::vector<double>>();
  const at::Tensor expected = at::tensor(values, at::kDouble).reshape({kSamples, kClasses});
  const double difference = ((found - expected).abs().max() / expected.abs().max()).item<double>();
  EXPECT_LE(difference, 1e-5);
  RecordProperty("difference", std::to_string(difference));
}

// Of a pass of training: the loss, and of each stage the norm of its gradients and of its running
// statistics. Gradients in single precision are that far from those in double: where a value is
// almost 0 or 6, rounding opens or closes a rectifier. torchvision's are as far, to the last bit.
TEST_P(BesideTorchvision, TrainingIsTheirs) {
  const auto model = make_model(GetParam(), kTorchvisionInput, 1);
  const at::Tensor labels = at::arange(kSamples).remainder(kClasses);
  const double loss = model->backward(golden_images(), labels, {}).loss.item<double>();
  const Json& expected = golden(GetParam());
  EXPECT_NEAR(loss / expected.at("loss").get<double>(), 1, 1e-4);
  const auto stages = model->stages();
  ASSERT_EQ(stages.size(), expected.at("gradient_norms").size());
  for (const ModelStage& stage : stages) {
    std::vector<at::Tensor> gradients, statistics;
    for (const NamedTensor& t : stage.parameters) gradients.push_back(t.tensor.grad());
    for (const NamedTensor& t : stage.buffers) statistics.push_back(t.tensor);
    EXPECT_NEAR(norm_of(gradients) / expected["gradient_norms"].at(stage.name).get<double>(), 1,
                1e-2)
        << stage.name;
    if (statistics.empty()) continue;
    EXPECT_NEAR(norm_of(statistics) / expected["statistic_norms"].at(stage.name).get<double>(), 1,
                1e-4)
        << stage.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, BesideTorchvision,
                         testing::Values("resnet18", "resnet34", "resnet50", "resnet101",
                                         "mobilenet_v2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace stoker
