// One test for each line of the specification about kernels and filters, named after it. What is
// meant for a GPU runs in the simulator.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/cli/kernel_bench.h"
#include "stoker/cuda/test_launch.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker {
namespace {

using cuda::Buffer;
using cuda::random_values;
using cuda::SimulatedLaunch;
using cuda::Variant;

template <class T>
Plane<const T> matrix(const std::vector<T>& values, int rows) {
  return {values.data(), rows, static_cast<int>(values.size()) / rows};
}
template <class T>
Plane<T> matrix(std::vector<T>& values, int rows) {
  return {values.data(), rows, static_cast<int>(values.size()) / rows};
}

// The maximum of two 1000 x 1000 matrices of 0 to 255: the trivial loop, the compiled one on 1, 2,
// 4 and 8 threads, and CUDA with 1000 blocks of 1000 threads.
TEST(Spec, R14_MaximumOfTwoMatrices) {
  constexpr int kSide = 1000;
  std::vector<std::int32_t> a(kSide * kSide), b(a.size()), expected(a.size()), found(a.size());
  Rng rng({.seed = 14}, 0);
  for (auto* values : {&a, &b}) {
    for (auto& value : *values) value = static_cast<std::int32_t>(rng.uniform_int(256));
  }
  std::transform(a.begin(), a.end(), b.begin(), expected.begin(),
                 [](auto x, auto y) { return x > y ? x : y; });
  maximum_reference(matrix(found, kSide), matrix(std::as_const(a), kSide),
                    matrix(std::as_const(b), kSide));
  ASSERT_EQ(found, expected);
  for (const int threads : {1, 2, 4, 8}) {
    std::fill(found.begin(), found.end(), -1);
    maximum(matrix(found, kSide), matrix(std::as_const(a), kSide), matrix(std::as_const(b), kSide),
            {.threads = threads});
    ASSERT_EQ(found, expected) << threads;
  }
  Buffer<std::int32_t> out("out", std::vector<std::int32_t>(a.size(), -1));
  const Buffer<std::int32_t> first("a", a), second("b", b);
  SimulatedLaunch launch;
  cuda::run_maximum<std::int32_t>(launch, out.output(), first.input(), second.input(),
                                  kSide * kSide, Variant::kPlain);
  EXPECT_EQ(launch.grid.x, 1000U);
  EXPECT_EQ(launch.block.x, 1000U);
  EXPECT_EQ(out.values(), expected);
}

// X·Xᵀ: three loops, the fast version, CUDA with one block of 1024 threads for every shape, and the
// version without that limit.
TEST(Spec, R15_ProductWithTheTransposed) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 70}, {40, 33}, {97, 5}}) {
    const std::vector<float> x = random_values<float>(std::size_t{1} * rows * columns, 15);
    std::vector<float> expected(std::size_t{1} * rows * rows), found(expected.size());
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        for (int k = 0; k < columns; ++k) {
          expected[i * rows + j] += x[i * columns + k] * x[j * columns + k];
        }
      }
    }
    gram_reference(matrix(found, rows), matrix(x, rows));
    EXPECT_EQ(found, expected);
    for (const int threads : {1, 2, 4}) {
      gram(matrix(found, rows), matrix(x, rows), {.threads = threads});
      EXPECT_EQ(found, expected);
    }
    const Buffer<float> input("x", x);
    const cuda::GramShape shape{rows, columns, columns, rows};
    for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
      Buffer<float> out("out", std::vector<float>(expected.size(), -1));
      SimulatedLaunch launch;
      cuda::run_gram<float>(launch, out.output(), input.input(), shape, variant);
      EXPECT_EQ(out.values(), expected) << rows << " x " << columns;
      if (variant != Variant::kPlain) continue;
      EXPECT_EQ(launch.grid.x * launch.grid.y, 1U);
      EXPECT_EQ(launch.block.x * launch.block.y, 1024U);
    }
  }
}

// convolve2d(image, kernel rotated by 180°, mode="same"), from the definition of a convolution:
// full[m][n] = sum of image[i][j] * rotated[m - i][n - j], of which the middle is kept.
std::vector<float> convolved(const Plane<const float>& image, const Plane<const float>& kernel) {
  std::vector<float> same(image.size());
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.columns; ++x) {
      const int m = y + (kernel.rows - 1) / 2, n = x + (kernel.columns - 1) / 2;
      for (int i = 0; i < image.rows; ++i) {
        for (int j = 0; j < image.columns; ++j) {
          const int down = m - i, across = n - j;
          if (down < 0 || down >= kernel.rows || across < 0 || across >= kernel.columns) continue;
          const float rotated = kernel.at(kernel.rows - 1 - down, kernel.columns - 1 - across);
          same[y * image.columns + x] += image.at(i, j) * rotated;
        }
      }
    }
  }
  return same;
}

std::vector<float> simulated_correlation(const std::vector<float>& image, int rows,
                                         const std::vector<float>& taps, cuda::KernelShape kernel,
                                         Variant variant) {
  const int columns = static_cast<int>(image.size()) / rows;
  Buffer<float> out("out", std::vector<float>(image.size(), -1));
  const Buffer<float> input("image", image), weights("weights", taps);
  cuda::run_correlation<float, float>(SimulatedLaunch{}, out.output(), input.input(),
                                      cuda::PlaneShape{rows, columns, columns, columns},
                                      weights.input(), kernel, variant);
  return out.values();
}

// On the CPU and in CUDA, odd kernels of any size, also not square. tests/kernels_test.py compares
// with scipy itself.
TEST(Spec, R16_CorrelationIsAConvolutionWithTheRotatedKernel) {
  constexpr int kRows = 14, kColumns = 19;
  const std::vector<float> image = random_values<float>(kRows * kColumns, 16);
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {3, 3}, {5, 3}, {1, 7}, {9, 9}, {15, 21}, {31, 31}}) {
    const std::vector<float> taps =
        random_values<float>(std::size_t{1} * rows * columns, 17, -9, 9);
    const Plane<const float> kernel(taps.data(), rows, columns);
    const std::vector<float> expected = convolved(matrix(image, kRows), kernel);
    std::vector<float> found(image.size());
    correlate(matrix(found, kRows), matrix(image, kRows), kernel);
    EXPECT_EQ(found, expected) << rows << " x " << columns;
    correlate_reference(matrix(found, kRows), matrix(image, kRows), kernel);
    EXPECT_EQ(found, expected) << rows << " x " << columns;
    for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
      EXPECT_EQ(simulated_correlation(image, kRows, taps, {rows, columns}, variant), expected)
          << rows << " x " << columns;
    }
  }
}

// The documents' column times row.
std::vector<float> outer(const std::vector<float>& column, const std::vector<float>& row) {
  std::vector<float> product;
  for (const float down : column) {
    for (const float across : row) product.push_back(down * across);
  }
  return product;
}

TEST(Spec, R17_TheFourFiltersToTheLastCoefficient) {
  const std::map<std::string_view, std::pair<std::vector<float>, std::vector<float>>> expected = {
      {"f1", {{1, 2, 1}, {1, 0, -1}}},
      {"f2", {{3, 10, 3}, {1, 0, -1}}},
      {"f3", {{1, 2, 1, 2, 1}, {1, 0, -1}}},
      {"f4", {{1, 2, 1, 2, 1}, {1, 0, 0, 0, -1}}}};
  ASSERT_EQ(document_filters().size(), 5U);
  for (const auto& [name, product] : expected) {
    const NamedFilter& filter = named_filter(name);
    ASSERT_EQ(filter.rows, static_cast<int>(product.first.size())) << name;
    ASSERT_EQ(filter.columns, static_cast<int>(product.second.size())) << name;
    EXPECT_FALSE(filter.correlation_only) << name;
    const Plane<const float> plane = filter.plane();
    EXPECT_EQ(std::vector<float>(plane.data, plane.data + plane.size()),
              outer(product.first, product.second))
        << name;
  }
  EXPECT_EQ(&named_filter("sobel3"), &named_filter("f1"));
  EXPECT_EQ(&named_filter("scharr"), &named_filter("f2"));
  // The plain correlation: ones, and 0 in the centre.
  const NamedFilter& blur = document_filters().back();
  EXPECT_TRUE(blur.correlation_only);
  EXPECT_EQ(std::vector<float>(blur.values.begin(), blur.values.begin() + 9),
            (std::vector<float>{1, 1, 1, 1, 0, 1, 1, 1, 1}));
}

// sqrt(Gx² + Gy²), Gx with the filter and Gy with its transpose, on the CPU and in CUDA.
TEST(Spec, R17_SobelOperatorIsTheLengthOfBothCorrelations) {
  constexpr int kRows = 23, kColumns = 37;
  const std::vector<float> image = random_values<float>(kRows * kColumns, 18, 0, 255);
  for (const NamedFilter& filter : document_filters()) {
    const Plane<const float> f = filter.plane();
    std::vector<float> transposed(f.size());
    for (int i = 0; i < f.rows; ++i) {
      for (int j = 0; j < f.columns; ++j) transposed[j * f.rows + i] = f.at(i, j);
    }
    const auto gx = convolved(matrix(image, kRows), f);
    const auto gy =
        convolved(matrix(image, kRows), Plane<const float>(transposed.data(), f.columns, f.rows));
    std::vector<float> expected(image.size()), found(image.size());
    std::transform(gx.begin(), gx.end(), gy.begin(), expected.begin(),
                   [](float x, float y) { return std::sqrt(x * x + y * y); });
    sobel(matrix(found, kRows), matrix(image, kRows), f);
    EXPECT_EQ(found, expected) << filter.name;
    Buffer<float> out("out", std::vector<float>(image.size(), -1));
    const Buffer<float> input("image", image);
    cuda::run_constant_sobel<float, float>(SimulatedLaunch{}, out.output(), input.input(),
                                           cuda::PlaneShape{kRows, kColumns, kColumns, kColumns},
                                           f.data, {f.rows, f.columns});
    EXPECT_EQ(out.values(), expected) << filter.name;
  }
}

// Times for every size: the trivial loop and each number of threads; a larger kernel takes longer.
// experiments/kernels puts scipy, numba and the report's speed-ups beside them.
TEST(Spec, R18_TimesOfEveryKernelBySize) {
  const KernelBenchOptions options{
      .sizes = {96}, .kernels = {3, 5, 7, 31}, .threads = {1, 2}, .matrix = 40, .seconds = 0};
  std::map<int, std::set<std::pair<std::string, int>>> measured;  // by side of the kernel
  std::map<int, double> trivial;
  std::set<std::string> kernels, filters;
  for (const KernelFigure& figure : measure_kernels(options)) {
    EXPECT_GT(figure.ms, 0) << figure.kernel;
    kernels.insert(figure.kernel);
    filters.insert(figure.filter);
    if (figure.kernel != "correlation f32") continue;
    const bool loop = figure.method == "reference";
    measured[figure.rows].insert({loop ? "trivial" : "fast", figure.threads});
    if (loop) trivial[figure.rows] = figure.ms;
  }
  for (const int side : options.kernels) {
    EXPECT_THAT(measured[side],
                testing::UnorderedElementsAre(testing::Pair("trivial", 1), testing::Pair("fast", 1),
                                              testing::Pair("fast", 2)))
        << side;
  }
  EXPECT_THAT(kernels, testing::IsSupersetOf({"correlation f32", "correlation u8", "sobel f32",
                                              "sobel u8", "maximum i32", "gram f32"}));
  EXPECT_THAT(filters, testing::IsSupersetOf({"f1", "f2", "f3", "f4"}));
  EXPECT_GT(trivial[31], trivial[3]);  // 107 times the products
}

// The kernels above ran without a GPU; and what would be wrong on one is caught.
TEST(Spec, R19_KernelsAreCheckedWithoutAGpu) {
  const std::vector<float> image = random_values<float>(20 * 140, 19);
  const std::vector<float> taps(9, 1);
  const Buffer<float> input("image", image);
  const auto run = [&](const std::string& omitted, int rows) {
    Buffer<float> out("out", std::vector<float>(image.size()));
    cuda::run_constant_correlation<float, float>(
        SimulatedLaunch{.omit_barrier = omitted}, out.output(), input.input(),
        cuda::PlaneShape{rows, 140, 140, 140}, taps.data(), cuda::KernelShape{3, 3});
    return out.values();
  };
  EXPECT_EQ(run("", 20), convolved(matrix(image, 20), Plane<const float>(taps.data(), 3, 3)));
  EXPECT_THROW((void)run("tile_filled", 20), cuda::SimulatorError);  // a missing barrier
  EXPECT_THROW((void)run("", 21), cuda::SimulatorError);             // beyond the image's memory
}

}  // namespace
}  // namespace stoker
