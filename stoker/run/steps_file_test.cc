#include "stoker/run/steps_file.h"

#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

std::string steps_text(const std::filesystem::path& path) {
  const Bytes bytes = contents_of(path);
  return {bytes.begin(), bytes.end()};
}

TEST(StepsFile, AnOlderWriterDoesNotReplaceNewerRows) {
  const TempFolder folder;
  const auto path = folder.path() / "steps.csv";
  StepsFile steps(path, "step,loss", 0);
  steps.add("1,0.5");
  const auto older = steps.writer();
  steps.add("2,0.4");
  steps.write();
  older();
  EXPECT_EQ(steps_text(path), "step,loss\n1,0.5\n2,0.4\n");
}

TEST(StepsFile, AResumedRunTakesOverTheRowsUpToItsStep) {
  const TempFolder folder;
  const auto path = folder.path() / "steps.csv";
  {
    StepsFile steps(path, "step,loss", 0);
    for (const char* row : {"1,0.5", "2,0.4", "3,0.3"}) steps.add(row);
    steps.write();
  }
  StepsFile resumed(path, "step,loss", 2);
  resumed.add("3,0.25");
  resumed.write();
  EXPECT_EQ(steps_text(path), "step,loss\n1,0.5\n2,0.4\n3,0.25\n");
}

}  // namespace
}  // namespace stoker
