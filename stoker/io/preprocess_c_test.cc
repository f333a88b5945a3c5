#include <cmath>
#include <cstring>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"
#include "stoker/image/png.h"
#include "stoker/image/test_images.h"
#include "stoker/io/model_metadata.h"
#include "stoker/stoker_preprocess.h"

namespace stoker {
namespace {

struct FreePreprocessor {
  void operator()(stoker_preprocessor* preprocessor) const {
    stoker_preprocessor_free(preprocessor);
  }
};
using Handle = std::unique_ptr<stoker_preprocessor, FreePreprocessor>;

stoker_preprocess_options small_options() {
  stoker_preprocess_options options;
  stoker_preprocess_defaults(&options);
  options.height = 6;
  options.width = 5;
  for (double& mean : options.mean) mean = 0.5;
  for (double& deviation : options.std) deviation = 0.25;
  return options;
}

std::vector<float> floats_of(const Handle& handle, const std::vector<std::byte>& file) {
  std::vector<float> out(stoker_preprocessor_bytes(handle.get()) / sizeof(float));
  EXPECT_EQ(stoker_preprocess_encoded(handle.get(), file.data(), file.size(), out.data(),
                                      out.size() * sizeof(float)),
            STOKER_OK)
      << stoker_last_error();
  return out;
}

TEST(PreprocessC, GivesNormalisedFloats) {
  const Image image = test::random_image({.height = 6, .width = 5, .channels = 3}, 4);
  stoker_preprocess_options options = small_options();
  const Handle planes(stoker_preprocessor_create(&options));
  options.layout = STOKER_FLOAT_NHWC;
  const Handle interleaved(stoker_preprocessor_create(&options));
  ASSERT_TRUE(planes && interleaved) << stoker_last_error();
  const std::vector<std::byte> file = encode_png(image.view());
  const std::vector<float> nchw = floats_of(planes, file), nhwc = floats_of(interleaved, file);
  ASSERT_EQ(nchw.size(), 90U);
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double expected = (image.at(y, x, c) / 255.0 - 0.5) / 0.25;
        EXPECT_NEAR(nchw[static_cast<std::size_t>((c * 6 + y) * 5 + x)], expected, 1e-5);
        EXPECT_NEAR(nhwc[static_cast<std::size_t>((y * 5 + x) * 3 + c)], expected, 1e-5);
      }
    }
  }
}

TEST(PreprocessC, GivesBytesOfPixels) {
  const Image image = test::random_image({.height = 6, .width = 9, .channels = 3}, 4);
  stoker_preprocess_options options = small_options();
  options.layout = STOKER_UINT8_NHWC;
  const Handle handle(stoker_preprocessor_create(&options));
  ASSERT_TRUE(handle) << stoker_last_error();
  std::vector<std::uint8_t> out(stoker_preprocessor_bytes(handle.get()));
  ASSERT_EQ(out.size(), 90U);
  // The left part of a wider image: rows have gaps.
  const stoker_pixels pixels{image.view().data, 6, 5, 3, image.view().bytes_per_row};
  ASSERT_EQ(stoker_preprocess_pixels(handle.get(), &pixels, out.data(), out.size()), STOKER_OK);
  EXPECT_EQ(out[3 * 15 + 4 * 3 + 1], image.at(3, 4, 1));
  EXPECT_STREQ(stoker_last_error(), "");
}

TEST(PreprocessC, ReadsWhatAModelFileSays) {
  const TempFolder folder;
  const SafetensorsMetadata metadata = {{"stoker.image", "6x5x3"},
                                        {"stoker.mean", "[0.5,0.5,0.5]"},
                                        {"stoker.std", "[0.25,0.25,0.25]"},
                                        {"stoker.framing", "resize(6,5)"},
                                        {"stoker.classes", R"(["ant","bee"])"}};
  const std::string path = (folder.path() / "model.safetensors").string();
  write_safetensors(path, {}, metadata);
  const Handle of_model(stoker_preprocessor_from_model(path.c_str(), STOKER_FLOAT_NCHW));
  ASSERT_TRUE(of_model) << stoker_last_error();
  std::int32_t height = 0, width = 0, channels = 0;
  stoker_preprocessor_shape(of_model.get(), &height, &width, &channels);
  EXPECT_EQ(height * 100 + width * 10 + channels, 653);
  ASSERT_EQ(stoker_preprocessor_class_count(of_model.get()), 2U);
  EXPECT_STREQ(stoker_preprocessor_class_name(of_model.get(), 1), "bee");
  EXPECT_EQ(stoker_preprocessor_class_name(of_model.get(), 2), nullptr);
  EXPECT_EQ(stoker_preprocessor_class_count(nullptr), 0U);
  const stoker_preprocess_options options = small_options();
  const Handle of_options(stoker_preprocessor_create(&options));
  const std::vector<std::byte> file =
      encode_png(test::random_image({.height = 17, .width = 12, .channels = 3}, 4).view());
  EXPECT_EQ(floats_of(of_model, file), floats_of(of_options, file));
  EXPECT_EQ(stoker_preprocessor_class_count(of_options.get()), 0U);
}

TEST(PreprocessC, TellsMistakesFromBadImages) {
  const stoker_preprocess_options options = small_options();
  const Handle handle(stoker_preprocessor_create(&options));
  std::vector<float> out(90);
  const std::size_t bytes = out.size() * sizeof(float);
  EXPECT_EQ(stoker_preprocess_encoded(handle.get(), "GIF89a", 6, out.data(), bytes),
            STOKER_BAD_IMAGE);
  EXPECT_THAT(stoker_last_error(), testing::HasSubstr("GIF"));
  EXPECT_EQ(stoker_preprocess_encoded(handle.get(), "", 0, out.data(), bytes), STOKER_BAD_IMAGE);
  EXPECT_EQ(stoker_preprocess_file(handle.get(), "/nowhere/a.png", out.data(), bytes),
            STOKER_BAD_IMAGE);
  EXPECT_EQ(stoker_preprocess_encoded(handle.get(), "x", 1, out.data(), bytes - 4),
            STOKER_BAD_ARGUMENT);
  EXPECT_EQ(stoker_preprocess_encoded(nullptr, "x", 1, out.data(), bytes), STOKER_BAD_ARGUMENT);
  EXPECT_EQ(stoker_preprocess_file(handle.get(), nullptr, out.data(), bytes), STOKER_BAD_ARGUMENT);
  EXPECT_EQ(stoker_preprocess_pixels(handle.get(), nullptr, out.data(), bytes),
            STOKER_BAD_ARGUMENT);
  EXPECT_EQ(stoker_preprocessor_create(nullptr), nullptr);
  EXPECT_EQ(stoker_preprocessor_from_model("/nowhere/m.safetensors", STOKER_FLOAT_NCHW), nullptr);
  EXPECT_THAT(stoker_last_error(), testing::HasSubstr("/nowhere/m.safetensors"));
  EXPECT_EQ(stoker_preprocessor_bytes(nullptr), 0U);
  stoker_preprocessor_free(nullptr);
}

TEST(PreprocessC, RefusesOptionsThatCannotBe) {
  const auto is_refused = [](const stoker_preprocess_options& options) {
    return stoker_preprocessor_create(&options) == nullptr && *stoker_last_error() != '\0';
  };
  stoker_preprocess_options options = small_options();
  options.struct_size = 0;
  EXPECT_TRUE(is_refused(options));
  options = small_options();
  options.std[1] = 0;
  EXPECT_TRUE(is_refused(options));
  options = small_options();
  options.layout = 7;
  EXPECT_TRUE(is_refused(options));
  options = small_options();
  options.framing = "resize(7,7)";
  EXPECT_TRUE(is_refused(options));
  options = small_options();
  options.channels = 2;
  EXPECT_TRUE(is_refused(options));
}

}  // namespace
}  // namespace stoker
