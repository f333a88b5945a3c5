#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

using testing::HasSubstr;

at::Tensor call(const char* name, const at::Tensor& a, const at::Tensor& b) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow((std::string("stoker::") + name).c_str(), "")
      .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>()
      .call(a, b);
}
at::Tensor gram_of(const at::Tensor& x) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow("stoker::gram", "")
      .typed<at::Tensor(const at::Tensor&)>()
      .call(x);
}

// Whole numbers, so that all sums are exact.
at::Tensor whole_numbers(at::IntArrayRef shape, at::ScalarType type, int low = 0) {
  return at::randint(low, 20, shape, at::kLong).to(type);
}

template <class T>
Plane<T> plane_of(const at::Tensor& tensor) {
  return {static_cast<T*>(tensor.mutable_data_ptr()), static_cast<int>(tensor.size(0)),
          static_cast<int>(tensor.size(1))};
}

template <class In, class T>
at::Tensor expected_correlation(const at::Tensor& image, const at::Tensor& kernel) {
  auto out = at::empty(image.sizes(), kernel.options());
  correlate_reference(plane_of<T>(out), plane_of<const In>(image), plane_of<const T>(kernel));
  return out;
}

template <class In, class T>
void expect_correlation(at::ScalarType in, at::ScalarType type) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {7, 9}, {30, 33}, {3, 40}}) {
    const auto image = whole_numbers({rows, columns}, in);
    for (const auto& [down, across] : {std::pair{1, 1}, {3, 3}, {5, 3}, {9, 9}}) {
      const auto kernel = whole_numbers({down, across}, type, -9);
      const auto actual = call("correlation", image, kernel);
      ASSERT_EQ(actual.scalar_type(), type);
      ASSERT_TRUE(at::equal(actual, (expected_correlation<In, T>(image, kernel))));
    }
  }
}

TEST(CorrelationOperator, EqualsTheReferenceForEveryType) {
  expect_correlation<float, float>(at::kFloat, at::kFloat);
  expect_correlation<double, double>(at::kDouble, at::kDouble);
  expect_correlation<std::int32_t, std::int32_t>(at::kInt, at::kInt);
  expect_correlation<std::uint8_t, float>(at::kByte, at::kFloat);
  expect_correlation<std::uint8_t, std::int32_t>(at::kByte, at::kInt);
}

TEST(CorrelationOperator, TakesBatchesOfImagesAndTensorsWithGaps) {
  const auto images = whole_numbers({2, 3, 12, 20}, at::kFloat);
  const auto kernel = whole_numbers({5, 3}, at::kFloat, -9);
  const auto all = call("correlation", images, kernel);
  ASSERT_EQ(all.sizes(), images.sizes());
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      const auto one = images[i][j].contiguous();
      EXPECT_TRUE(at::equal(all[i][j], (expected_correlation<float, float>(one, kernel))));
    }
  }
  const auto turned = images.transpose(2, 3);
  EXPECT_TRUE(at::equal(call("correlation", turned, kernel),
                        call("correlation", turned.contiguous(), kernel)));
  EXPECT_TRUE(at::equal(call("correlation", images, kernel.t()),
                        call("correlation", images, kernel.t().contiguous())));
}

TEST(CorrelationOperator, TakesEmptyImages) {
  const auto kernel = at::ones({3, 3});
  EXPECT_EQ(call("correlation", at::empty({0, 5}), kernel).sizes(), (at::IntArrayRef{0, 5}));
  EXPECT_EQ(call("correlation", at::empty({2, 0, 5}), kernel).sizes(), (at::IntArrayRef{2, 0, 5}));
}

TEST(SobelOperator, EqualsTheReference) {
  for (const auto type : {at::kFloat, at::kByte}) {
    const auto image = whole_numbers({21, 34}, type);
    const auto filter = whole_numbers({5, 3}, at::kFloat, -9);
    auto expected = at::empty({21, 34});
    if (type == at::kByte) {
      sobel_reference(plane_of<float>(expected), plane_of<const std::uint8_t>(image),
                      plane_of<const float>(filter));
    } else {
      sobel_reference(plane_of<float>(expected), plane_of<const float>(image),
                      plane_of<const float>(filter));
    }
    EXPECT_TRUE(at::equal(call("sobel", image, filter), expected));
  }
}

TEST(SobelOperator, TakesTheDocumentsFilters) {
  const auto image = whole_numbers({33, 47}, at::kByte);
  for (const NamedFilter& filter : document_filters()) {
    auto weights = at::empty({filter.rows, filter.columns});
    std::copy_n(filter.values.begin(), weights.numel(), weights.mutable_data_ptr<float>());
    auto expected = at::empty({33, 47});
    sobel_reference(plane_of<float>(expected), plane_of<const std::uint8_t>(image), filter.plane());
    EXPECT_TRUE(at::equal(call("sobel", image, weights), expected)) << filter.name;
  }
}

TEST(MaximumOperator, EqualsLibTorchs) {
  for (const auto type : {at::kByte, at::kInt, at::kLong}) {
    const auto a = whole_numbers({3, 50, 7}, type), b = whole_numbers({3, 50, 7}, type);
    EXPECT_TRUE(at::equal(call("maximum", a, b), at::maximum(a, b)));
    EXPECT_TRUE(at::equal(call("maximum", a.transpose(0, 1), b.transpose(0, 1)),
                          at::maximum(a, b).transpose(0, 1)));
  }
}

TEST(GramOperator, EqualsTheProductWithTheTransposed) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto x = whole_numbers({70, 33}, type, -9);
    EXPECT_TRUE(at::equal(gram_of(x), at::matmul(x, x.t())));
    EXPECT_TRUE(at::equal(gram_of(x.t()), at::matmul(x.t(), x)));
  }
}

TEST(ShapeFunctions, KnowShapeAndTypeWithoutValues) {
  const auto meta = at::TensorOptions(at::kMeta);
  const auto image = at::empty({2, 3, 40, 50}, meta.dtype(at::kByte));
  const auto out = call("correlation", image, at::empty({3, 5}, meta.dtype(at::kInt)));
  EXPECT_TRUE(out.is_meta());
  EXPECT_EQ(out.sizes(), image.sizes());
  EXPECT_EQ(out.scalar_type(), at::kInt);
  EXPECT_EQ(call("sobel", image, at::empty({3, 3}, meta.dtype(at::kFloat))).scalar_type(),
            at::kFloat);
  EXPECT_EQ(call("maximum", image, image).scalar_type(), at::kByte);
  EXPECT_EQ(gram_of(at::empty({7, 5}, meta)).sizes(), (at::IntArrayRef{7, 7}));
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Operators, SayWhatTheyCannotTake) {
  const auto image = at::zeros({5, 5});
  EXPECT_THAT(message_of([&] {
                call("correlation", image, at::zeros({2, 3}));
              }),
              HasSubstr("odd sides, got 2×3"));
  EXPECT_THAT(message_of([&] {
                call("correlation", image, at::zeros({3, 3}, at::kDouble));
              }),
              HasSubstr("Float and Double"));
  EXPECT_THAT(message_of([&] {
                call("correlation", at::zeros({5}), at::zeros({3, 3}));
              }),
              HasSubstr("two or more dimensions"));
  EXPECT_THAT(message_of([&] {
                call("sobel", at::zeros({5, 5}, at::kInt), at::zeros({3, 3}, at::kInt));
              }),
              HasSubstr("Int"));
  EXPECT_THAT(message_of([&] { call("maximum", image, image); }), HasSubstr("whole numbers"));
  EXPECT_THAT(
      message_of([&] { call("maximum", at::zeros({2}, at::kInt), at::zeros({3}, at::kInt)); }),
      HasSubstr("same shape"));
  EXPECT_THAT(message_of([&] {
                gram_of(at::zeros({2, 2}, at::kInt));
              }),
              HasSubstr("matrix of float or double"));
}

// Central differences of sum(weights * correlation) by each value of `varied`.
at::Tensor numeric_gradient(const at::Tensor& image, const at::Tensor& kernel,
                            const at::Tensor& weights, bool by_image) {
  constexpr double kStep = 1e-6;
  auto varied = (by_image ? image : kernel).detach().clone();
  auto gradient = at::zeros_like(varied);
  const auto value = [&] {
    const auto out = by_image ? call("correlation", varied, kernel.detach())
                              : call("correlation", image.detach(), varied);
    return (out * weights).sum().item<double>();
  };
  auto *at = varied.mutable_data_ptr<double>(), *to = gradient.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < varied.numel(); ++i) {
    const double before = at[i];
    at[i] = before + kStep;
    const double above = value();
    at[i] = before - kStep;
    to[i] = (above - value()) / (2 * kStep);
    at[i] = before;
  }
  return gradient;
}

TEST(CorrelationGradient, EqualsNumericDifferences) {
  at::manual_seed(3);
  for (const auto& [down, across] : {std::pair{3, 3}, {5, 3}, {1, 7}, {7, 9}}) {
    auto image = at::randn({2, 6, 7}, at::kDouble).requires_grad_();
    auto kernel = at::randn({down, across}, at::kDouble).requires_grad_();
    const auto weights = at::randn({2, 6, 7}, at::kDouble);
    (call("correlation", image, kernel) * weights).sum().backward();
    EXPECT_TRUE(
        at::allclose(image.grad(), numeric_gradient(image, kernel, weights, true), 1e-6, 1e-8));
    EXPECT_TRUE(
        at::allclose(kernel.grad(), numeric_gradient(image, kernel, weights, false), 1e-6, 1e-8));
  }
}

TEST(CorrelationGradient, ExistsForOnlyOneOfThemToo) {
  auto kernel = at::randn({3, 3}).requires_grad_();
  const auto bytes = whole_numbers({8, 9}, at::kByte);
  call("correlation", bytes, kernel).sum().backward();
  auto same = kernel.detach().clone().requires_grad_();
  call("correlation", bytes.to(at::kFloat), same).sum().backward();
  EXPECT_TRUE(at::allclose(kernel.grad(), same.grad()));

  auto image = at::randn({8, 9}).requires_grad_();
  call("correlation", image, at::ones({3, 3})).sum().backward();
  EXPECT_EQ(image.grad()[4][4].item<float>(), 9);  // under nine kernels
  EXPECT_EQ(image.grad()[0][0].item<float>(), 4);  // in a corner
}

}  // namespace
}  // namespace stoker
