#include "stoker/run/weights_path.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

TEST(WeightsPath, ARunStandsForItsBestWeights) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "run" / "weights");
  const std::string run = (folder.path() / "run").string();
  EXPECT_THROW(static_cast<void>(weights_path(run)), Error);
  const std::filesystem::path best = folder.path() / "run" / "weights" / "best.safetensors";
  folder.write("run/weights/best.safetensors", {});
  EXPECT_EQ(weights_path(run), best);
  EXPECT_EQ(weights_path(run + "/"), best);
  EXPECT_EQ(weights_path(best.string()), best);
}

TEST(WeightsPath, AFolderOfHuggingFaceStandsForItsModel) {
  const TempFolder folder;
  folder.write("hub/model.safetensors", {});
  EXPECT_EQ(weights_path((folder.path() / "hub").string()),
            folder.path() / "hub" / "model.safetensors");
}

TEST(WeightsPath, AMissingFileIsLeftToItsReader) {
  EXPECT_EQ(weights_path("nowhere/best.safetensors"), "nowhere/best.safetensors");
}

}  // namespace
}  // namespace stoker
