#include "stoker/io/compare.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace stoker {
namespace {

template <class T>
TensorView view(const std::string& name, DType dtype, const std::vector<T>& values) {
  return {.name = name,
          .dtype = dtype,
          .shape = {static_cast<std::int64_t>(values.size())},
          .bytes = std::as_bytes(std::span(values))};
}

TensorComparison compare(const std::vector<TensorView>& a, const std::vector<TensorView>& b) {
  const auto left = encode_safetensors(a), right = encode_safetensors(b);
  return compare_tensors(parse_safetensors(left, "a"), parse_safetensors(right, "b"));
}

template <class T>
double relative(DType dtype, const std::vector<T>& a, const std::vector<T>& b) {
  return compare({view("t", dtype, a)}, {view("t", dtype, b)}).max_relative_difference;
}

TEST(CompareTensors, IsRelativeToTheLargestValueOfATensor) {
  const std::vector<float> a = {1, -4, 0}, b = {1, -3, 0};
  const TensorComparison result = compare({view("t", DType::kF32, a)}, {view("t", DType::kF32, b)});
  EXPECT_DOUBLE_EQ(result.max_relative_difference, 0.25);
  EXPECT_DOUBLE_EQ(result.max_absolute_difference, 1);
  EXPECT_EQ(result.worst_tensor, "t");
  EXPECT_EQ(result.identical, 0U);
}

TEST(CompareTensors, EqualFilesDifferByNothing) {
  const std::vector<float> a = {1, -4, std::nanf("")};
  const TensorComparison result = compare({view("t", DType::kF32, a)}, {view("t", DType::kF32, a)});
  EXPECT_EQ(result.max_relative_difference, 0);
  EXPECT_EQ(result.identical, 1U);
}

TEST(CompareTensors, ReadsEveryType) {
  EXPECT_DOUBLE_EQ(relative<double>(DType::kF64, {2}, {1}), 0.5);
  EXPECT_DOUBLE_EQ(relative<std::int64_t>(DType::kI64, {-2}, {-1}), 0.5);
  EXPECT_DOUBLE_EQ(relative<std::int32_t>(DType::kI32, {2}, {1}), 0.5);
  EXPECT_DOUBLE_EQ(relative<std::int16_t>(DType::kI16, {2}, {-2}), 2);
  EXPECT_DOUBLE_EQ(relative<std::uint8_t>(DType::kU8, {200}, {100}), 0.5);
  EXPECT_DOUBLE_EQ(relative<std::int8_t>(DType::kI8, {-100}, {-50}), 0.5);
  EXPECT_DOUBLE_EQ(relative<std::uint8_t>(DType::kBool, {1}, {0}), 1);
  EXPECT_DOUBLE_EQ(relative<std::uint16_t>(DType::kF16, {0x4000}, {0x3C00}), 0.5) << "2 and 1";
  EXPECT_DOUBLE_EQ(relative<std::uint16_t>(DType::kF16, {0x0002}, {0x0001}), 0.5) << "subnormal";
  EXPECT_DOUBLE_EQ(relative<std::uint16_t>(DType::kBf16, {0x4000}, {0x3F80}), 0.5) << "2 and 1";
}

TEST(CompareTensors, ANanAgainstANumberIsNotEqual) {
  EXPECT_TRUE(std::isinf(relative<float>(DType::kF32, {std::nanf("")}, {1})));
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(relative<float>(DType::kF32, {infinite}, {1})));
  EXPECT_EQ(relative<float>(DType::kF32, {infinite}, {infinite}), 0);
}

TEST(CompareTensors, NamesWhatHasNoPartner) {
  const std::vector<float> a = {1}, wide = {1, 2};
  const TensorComparison result =
      compare({view("only a", DType::kF32, a), view("shape", DType::kF32, a)},
              {view("only b", DType::kF32, a), view("shape", DType::kF32, wide)});
  EXPECT_EQ(result.compared, 0U);
  EXPECT_EQ(result.unmatched, (std::vector<std::string>{"only a", "shape", "only b"}));
}

}  // namespace
}  // namespace stoker
