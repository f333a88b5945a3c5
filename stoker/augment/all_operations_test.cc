// Claims about every operation of the registry, by its example and by a form that is always done.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stoker/augment/policy.h"
#include "stoker/augment/registry.h"
#include "stoker/image/test_images.h"
#include "stoker/kernels/simd.h"

namespace stoker {
namespace {

std::vector<std::string> all_policies() {
  std::vector<std::string> texts = {"hflip(1),rotate(10,10),vflip(1)",
                                    "greyscale(1),perspective(0.5,1),erase(1)",
                                    "blur(7,1,1),autocontrast,erase(1,0.1,0.2,1,1,-1)",
                                    "colour_jitter(0.4,0.4,0.4,0.2),equalize,invert",
                                    "randaugment(5,20,5),augmix(10,4,3,0.5),trivialaugment"};
  for (const OperationSchema& operation : builtin_operations()) texts.push_back(operation.example);
  return texts;
}

std::vector<Image> inputs() {
  std::vector<Image> images;
  for (const int channels : {1, 3}) {
    for (const auto& [height, width] : {std::pair{1, 1}, {2, 3}, {28, 28}, {37, 61}, {90, 100}}) {
      images.push_back(
          test::random_image({.height = height, .width = width, .channels = channels}, 7));
    }
  }
  return images;
}

TEST(EveryOperation, GivesTheSameBytesOnEveryInstructionSet) {
  const std::vector<Image> images = inputs();
  for (const std::string& text : all_policies()) {
    const Policy policy = Policy::parse(text);
    for (const Image& in : images) {
      for (std::uint64_t sample = 0; sample < 6; ++sample) {
        const SampleKey key{.seed = 1, .epoch = 3, .sample = sample};
        force_simd("reference");
        const Image expected = policy.apply(in.view(), key);
        for (const auto& name : available_simd()) {
          force_simd(name);
          ASSERT_EQ(policy.apply(in.view(), key), expected) << text << " on " << name;
        }
      }
    }
  }
  force_simd("auto");
}

TEST(EveryOperation, TakesNothingFromTheImageBefore) {
  const std::vector<Image> images = inputs();
  AugmentScratch scratch;  // one for all operations and shapes
  for (const std::string& text : all_policies()) {
    const Policy policy = Policy::parse(text);
    for (const Image& in : images) {
      for (std::uint64_t sample = 0; sample < 3; ++sample) {
        Image out(in.shape());
        policy.apply(out.view(), in.view(), {.sample = sample}, scratch);
        ASSERT_EQ(out, policy.apply(in.view(), {.sample = sample})) << text;
      }
    }
  }
}

TEST(EveryOperation, WithProbabilityZeroChangesNothing) {
  const Image in = test::random_image({.height = 20, .width = 31, .channels = 3}, 7);
  int tried = 0;
  for (const OperationSchema& operation : builtin_operations()) {
    for (std::size_t i = 0; i < operation.parameters.size(); ++i) {
      if (operation.parameters[i].name != "p") continue;
      // The example's arguments with this one replaced.
      std::string text = operation.example;
      std::size_t begin = text.find('(') + 1;
      for (std::size_t k = 0; k < i; ++k) begin = text.find(',', begin) + 1;
      text.replace(begin, text.find_first_of(",)", begin) - begin, "0");
      for (std::uint64_t sample = 0; sample < 5; ++sample) {
        EXPECT_EQ(Policy::parse(text).apply(in.view(), {.sample = sample}), in) << text;
      }
      ++tried;
    }
  }
  EXPECT_GE(tried, 20);
}

}  // namespace
}  // namespace stoker
