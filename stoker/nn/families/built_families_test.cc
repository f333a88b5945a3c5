#include "stoker/nn/families/built_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

using testing::HasSubstr;

// families_test.cc has the networks themselves, with LibTorch.
TEST(BuildNetwork, RefusesImagesAndOptionsThatDoNotFit) {
  const auto message = [](const std::string& name, const ImageShape& image, double drop_path) {
    const BuiltFamily* family = find_built_family(name);
    return message_of([&] {
      static_cast<void>(build_network(*family, name, {.image = image, .classes = 5}, drop_path));
    });
  };
  EXPECT_THAT(message("convnext_atto", {31, 32, 3}, 0),
              HasSubstr("convnext_atto does not fit the data. "
                        "Expected images of at least 32x32, got 31x32x3"));
  EXPECT_THAT(message("vit_tiny_patch16_224", {32, 40, 3}, 0),
              HasSubstr("sides that are multiples of 16, got 32x40x3"));
  EXPECT_THAT(message("mobilenet_v3_small", {32, 48, 3}, 0.1),
              HasSubstr("mobilenet_v3_small has no stochastic depth. "
                        "Expected `drop_path` 0, got 0.1"));
  EXPECT_EQ(find_built_family("resnet18"), nullptr);
}

}  // namespace
}  // namespace stoker
