#include "stoker/cuda/gpu.h"

#include <filesystem>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/kernels/correlation/correlation.h"
#include "stoker/kernels/gram/gram.h"
#include "stoker/kernels/maximum/maximum.h"
#include "stoker/kernels/sobel/sobel.h"

namespace stoker::cuda {
namespace {

using testing::HasSubstr;

template <class T>
std::vector<T> numbers(std::size_t count, unsigned factor) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i * factor % 251);
  return values;
}

// Results on `gpu` for a 20 x 37 image against the references.
template <class In>
void expect_filters(Gpu& gpu, Variant variant) {
  constexpr int kRows = 20, kColumns = 37;
  const auto pixels = numbers<In>(kRows * kColumns, 83);
  const Plane<const In> image(pixels.data(), kRows, kColumns);
  std::vector<float> expected(pixels.size()), found(pixels.size());
  const Plane<float> want(expected.data(), kRows, kColumns), got(found.data(), kRows, kColumns);
  for (const NamedFilter& filter : named_filters()) {
    correlate_reference(want, image, filter.plane());
    EXPECT_GT(gpu.correlation(got, image, filter.plane(), variant, 2).kernel, 0);
    EXPECT_EQ(found, expected) << filter.name;
    sobel_reference(want, image, filter.plane());
    gpu.sobel(got, image, filter.plane(), variant, 1);
    EXPECT_EQ(found, expected) << filter.name;
  }
  const std::vector<float> large(35 * 3, 1);  // beyond what travels in constant memory
  const Plane<const float> kernel(large.data(), 35, 3);
  correlate_reference(want, image, kernel);
  gpu.correlation(got, image, kernel, variant, 1);
  EXPECT_EQ(found, expected);
  sobel_reference(want, image, kernel);
  gpu.sobel(got, image, kernel, variant, 1);
  EXPECT_EQ(found, expected);
}

void expect_matrices(Gpu& gpu, Variant variant) {
  constexpr int kRows = 33, kColumns = 50;
  const auto a = numbers<std::int32_t>(kRows * kColumns, 83),
             b = numbers<std::int32_t>(a.size(), 7);
  std::vector<std::int32_t> larger(a.size()), expected(a.size());
  const auto plane = [](auto& values) { return Plane(values.data(), kRows, kColumns); };
  maximum_reference(plane(expected), plane(a), plane(b));
  gpu.maximum(plane(larger), plane(a), plane(b), variant, 1);
  EXPECT_EQ(larger, expected);
  const auto x = numbers<float>(a.size(), 11);
  std::vector<float> product(kRows * kRows), three_loops(product.size());
  gram_reference(Plane<float>(three_loops.data(), kRows, kRows), plane(x));
  gpu.gram(Plane<float>(product.data(), kRows, kRows), plane(x), variant, 1);
  EXPECT_EQ(product, three_loops);
}

void expect_references(Gpu& gpu) {
  for (const Variant variant : {Variant::kPlain, Variant::kTiled}) {
    expect_filters<float>(gpu, variant);
    expect_filters<std::uint8_t>(gpu, variant);
    expect_matrices(gpu, variant);
  }
}

TEST(Gpu, TheSimulatedOneEqualsTheReferencesThroughTheSameInterface) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const FoundGpu found = open_gpu_library(folder / "libstoker_gpu_simulated.so");
  ASSERT_NE(found.gpu, nullptr) << found.reason;
  EXPECT_EQ(found.reason, "simulated GPU");
  expect_references(*found.gpu);
}

TEST(Gpu, TheRealOneEqualsTheReferencesOrSaysWhyThereIsNone) {
  const FoundGpu& found = find_gpu();
  if (found.gpu == nullptr) {
    EXPECT_FALSE(found.reason.empty());
  } else {
    expect_references(*found.gpu);
  }
}

TEST(ChooseGpu, FollowsTheFlag) {
  const FoundGpu none{.gpu = nullptr, .reason = "no NVIDIA driver"};
  EXPECT_EQ(choose_gpu("cpu", none).reason, "as asked");
  EXPECT_EQ(choose_gpu("auto", none).gpu, nullptr);
  EXPECT_EQ(choose_gpu("auto", none).reason, "no NVIDIA driver");
  for (const auto& [wanted, words] :
       {std::pair{"cuda", "got no NVIDIA driver"}, {"gpu", "auto, cpu or cuda, got \"gpu\""}}) {
    try {
      static_cast<void>(choose_gpu(wanted, none));
      FAIL() << "accepted " << wanted;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  }
}

TEST(OpenGpuLibrary, SaysWhatIsMissing) {
  EXPECT_THAT(open_gpu_library("/nowhere/libnothing.so").reason, HasSubstr("libnothing.so"));
  EXPECT_THAT(open_gpu_library("libdl.so.2").reason, HasSubstr("holds no CUDA kernels"));
}

}  // namespace
}  // namespace stoker::cuda
