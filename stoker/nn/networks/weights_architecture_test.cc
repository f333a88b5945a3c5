#include "stoker/nn/networks/weights_architecture.h"

#include <array>

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"
#include "stoker/nn/model_keys.h"

namespace stoker {
namespace {

std::optional<std::string> known_of(const std::vector<std::string>& names,
                                    const SafetensorsMetadata& metadata = {}) {
  const TempFolder folder;
  constexpr std::array<std::byte, 4> kValue{};
  std::vector<TensorView> tensors;
  for (const std::string& name : names) tensors.push_back({name, DType::kF32, {1}, kValue});
  write_safetensors(folder.path() / "w.safetensors", tensors, metadata);
  return known_architecture(WeightsFile(folder.path() / "w.safetensors"));
}

TEST(WeightsArchitecture, FollowsTheNamesOrTheMetadata) {
  EXPECT_EQ(known_of({"layer4.1.conv2.weight"}), "resnet18");
  EXPECT_EQ(known_of({"layer4.1.conv2.weight", "layer3.5.conv3.weight"}), "resnet50");
  EXPECT_EQ(known_of({"features.17.conv.3.weight"}), "mobilenet_v2");
  EXPECT_EQ(known_of({"layer4.1.conv2.weight"}, {{kArchitectureKey, "cnn:8"}}), "cnn:8");
  EXPECT_EQ(known_of({"other.weight"}), std::nullopt);
}

TEST(WeightsArchitecture, ThrowsWhereNothingTells) {
  const TempFolder folder;
  constexpr std::array<std::byte, 4> kValue{};
  const std::vector<TensorView> tensors = {{"other.weight", DType::kF32, {1}, kValue}};
  const std::filesystem::path path = folder.path() / "w.safetensors";
  write_safetensors(path, tensors);
  EXPECT_THROW(static_cast<void>(architecture_of_weights(path)), Error);
}

}  // namespace
}  // namespace stoker
