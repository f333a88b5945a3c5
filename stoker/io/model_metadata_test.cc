#include "stoker/io/model_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

const SafetensorsMetadata kGood = {{"stoker.image", "24x32x3"},
                                   {"stoker.classes", R"(["cat","dog"])"},
                                   {"stoker.mean", "[0.5,0.4,0.3]"},
                                   {"stoker.std", "[0.2,0.3,0.4]"},
                                   {"stoker.framing", "resize(24,32)"}};

TEST(ModelMetadata, SaysHowImagesBecomeNumbers) {
  const ModelPreprocessing found = read_model_preprocessing(kGood, "m.safetensors");
  EXPECT_EQ(found.image, (ImageShape{.height = 24, .width = 32, .channels = 3}));
  EXPECT_EQ(found.mean[2], 0.3);
  EXPECT_EQ(found.deviation[0], 0.2);
  EXPECT_EQ(found.framing, "resize(24,32)");
  EXPECT_EQ(found.window, "");
  EXPECT_THAT(read_model_classes(kGood, "m.safetensors"), testing::ElementsAre("cat", "dog"));
}

TEST(ModelMetadata, NamesTheKeyThatCannotBeUsed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"stoker.image", "24x32"},    {"stoker.image", "24x32x3x"}, {"stoker.mean", "[0.5]"},
      {"stoker.mean", "0.5"},       {"stoker.mean", "[0.5,"},     {"stoker.std", "[0.2,0,0.4]"},
      {"stoker.std", "[1,1e999,1]"}};
  for (const auto& [key, value] : wrong) {
    SafetensorsMetadata metadata = kGood;
    metadata[key] = value;
    try {
      static_cast<void>(read_model_preprocessing(metadata, "m.safetensors"));
      ADD_FAILURE() << key << " " << value;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("m.safetensors"));
      EXPECT_THAT(error.what(), testing::HasSubstr("stoker."));
    }
  }
  EXPECT_THROW(static_cast<void>(read_model_preprocessing({}, "m")), Error);
  EXPECT_THROW(static_cast<void>(read_model_classes({{"stoker.classes", "[]"}}, "m")), Error);
}

TEST(ModelMetadata, ADepthIsSixteenOrNotGiven) {
  SafetensorsMetadata metadata = kGood;
  EXPECT_EQ(read_model_preprocessing(metadata, "m").image.depth, 8);
  metadata["stoker.depth"] = "16";
  EXPECT_EQ(read_model_preprocessing(metadata, "m").image.depth, 16);
  metadata["stoker.depth"] = "12";
  EXPECT_THAT(message_of([&] { static_cast<void>(read_model_preprocessing(metadata, "m")); }),
              testing::HasSubstr("stoker.depth cannot be used: m. Expected 16, got 12"));
}

}  // namespace
}  // namespace stoker
