#include "stoker/io/fit_weights.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Shape = std::vector<std::int64_t>;

TensorView found(std::string name, Shape shape, DType dtype = DType::kF32) {
  return {.name = std::move(name), .dtype = dtype, .shape = std::move(shape), .bytes = {}};
}

const std::vector<WantedTensor> kNetwork = {{"conv.weight", DType::kF32, {8, 3, 3, 3}},
                                            {"norm.running_mean", DType::kF32, {8}},
                                            {"fc.weight", DType::kF32, {5, 8}},
                                            {"fc.bias", DType::kF32, {5}}};

std::vector<TensorView> matching() {
  return {found("fc.bias", {5}), found("fc.weight", {5, 8}), found("norm.running_mean", {8}),
          found("conv.weight", {8, 3, 3, 3})};
}

TEST(FitWeights, PairsTensorsByNameInAnyOrder) {
  const auto file = matching();
  const WeightsFit fit = fit_weights(kNetwork, file, "fc");
  EXPECT_TRUE(fit.complete());
  ASSERT_EQ(fit.fitting.size(), 4U);
  for (const WeightsFit::Pair& pair : fit.fitting) {
    EXPECT_EQ(kNetwork[pair.wanted].name, file[pair.found].name);
  }
  EXPECT_THAT(fit.replaced, IsEmpty());
  EXPECT_EQ(fit.text(), "loaded 4 of 4 tensors");
}

TEST(FitWeights, NamesWhatIsMissingAndWhatIsUnexpected) {
  auto file = matching();
  file[3].name = "conv2.weight";
  const WeightsFit fit = fit_weights(kNetwork, file);
  EXPECT_FALSE(fit.complete());
  EXPECT_THAT(fit.missing, ElementsAre("conv.weight"));
  EXPECT_THAT(fit.unexpected, ElementsAre("conv2.weight"));
  EXPECT_EQ(fit.text(),
            "loaded 3 of 4 tensors\nmissing 1: conv.weight\nunexpected 1: conv2.weight");
}

TEST(FitWeights, ShowsBothShapesOfADifference) {
  auto file = matching();
  file[3].shape = {8, 1, 3, 3};
  const WeightsFit fit = fit_weights(kNetwork, file, "fc");
  EXPECT_FALSE(fit.complete());
  ASSERT_EQ(fit.different.size(), 1U);
  EXPECT_EQ(fit.different[0].name, "conv.weight");
  EXPECT_THAT(fit.unexpected, IsEmpty());
  EXPECT_THAT(fit.text(), HasSubstr("different 1: conv.weight: F32 (8, 1, 3, 3) in the file, "
                                    "F32 (8, 3, 3, 3) in the network"));
}

TEST(FitWeights, AHeadOfAnotherShapeIsReplacedAsAWhole) {
  auto file = matching();
  file[1].shape = {5, 9};  // more features: the bias alone would fit
  const WeightsFit fit = fit_weights(kNetwork, file, "fc");
  EXPECT_TRUE(fit.complete());
  EXPECT_THAT(fit.replaced, ElementsAre("fc.weight", "fc.bias"));
  EXPECT_EQ(fit.fitting.size(), 2U);
  EXPECT_THAT(fit.text(), HasSubstr("new, since the head has another shape 2: fc.weight, fc.bias"));
  EXPECT_FALSE(fit_weights(kNetwork, file).complete());
  EXPECT_FALSE(fit_weights(kNetwork, file, "f").complete());  // no layer of that name
}

TEST(FitWeights, WhatIsLeftOverIsUnexpectedUnlessItIsOfAReplacedHead) {
  auto file = matching();
  file.push_back(found("fc.scale", {5}));
  file.push_back(found("conv9.weight", {8}));
  EXPECT_THAT(fit_weights(kNetwork, file).unexpected, ElementsAre("fc.scale", "conv9.weight"));
  file[1].shape = {5, 9};
  EXPECT_THAT(fit_weights(kNetwork, file, "fc").unexpected, ElementsAre("conv9.weight"));
}

TEST(FitWeights, AFileWithoutHeadLeavesItNew) {
  auto file = matching();
  file.erase(file.begin(), file.begin() + 2);
  const WeightsFit fit = fit_weights(kNetwork, file, "fc");
  EXPECT_TRUE(fit.complete());
  EXPECT_EQ(fit.replaced.size(), 2U);
}

TEST(FitWeights, FloatingPointConvertsAndOtherTypesDoNot) {
  auto file = matching();
  file[3].dtype = DType::kF16;
  file[2].dtype = DType::kI64;
  const WeightsFit fit = fit_weights(kNetwork, file);
  EXPECT_THAT(fit.converted, ElementsAre("conv.weight"));
  ASSERT_EQ(fit.different.size(), 1U);
  EXPECT_EQ(fit.different[0].found, "I64 (8)");
}

TEST(FitWeights, CountersOfBatchNormsAreIgnoredUnlessWanted) {
  auto file = matching();
  file.push_back(found("norm.num_batches_tracked", {}, DType::kI64));
  const WeightsFit fit = fit_weights(kNetwork, file);
  EXPECT_TRUE(fit.complete());
  EXPECT_EQ(fit.ignored, 1U);
  auto wanted = kNetwork;
  wanted.push_back({"norm.num_batches_tracked", DType::kI64, {}});
  EXPECT_EQ(fit_weights(wanted, file).fitting.size(), 5U);
  EXPECT_THAT(fit_weights(wanted, matching()).missing, ElementsAre("norm.num_batches_tracked"));
}

TEST(FitWeights, TheTextStaysShort) {
  std::vector<TensorView> file = matching();
  for (int i = 0; i < 500; ++i) file.push_back(found(fmt::format("blocks.{}.weight", i), {1}));
  file.push_back(found("\x1B[31m", {1}));
  const std::string text = fit_weights(kNetwork, file).text();
  EXPECT_THAT(text, HasSubstr("unexpected 501: blocks.0.weight, blocks.1.weight, blocks.2.weight "
                              "and 498 more"));
  EXPECT_LT(text.size(), 200U);
  const std::vector<TensorView> odd = {found("\x1B[31m", {1})};
  EXPECT_THAT(fit_weights(kNetwork, odd).text(), Not(HasSubstr("\x1B")));
}

}  // namespace
}  // namespace stoker
