#include "stoker/cli/find_libtorch.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

class FindLibTorch : public ::testing::Test {
 protected:
  fs::path torch_in(const fs::path& root, const std::string& version_line) {
    write_text(root / "lib" / "libtorch_cpu.so", "");
    if (!version_line.empty()) write_text(root / "version.py", version_line);
    return root / "lib";
  }

  TempFolder folder_;
  fs::path venv_ = folder_.path() / "venv";
  fs::path wheel_ = venv_ / "lib/python3.11/site-packages/torch";
  fs::path program_ = folder_.path() / "opt/stoker/bin";
  fs::path beside_ = folder_.path() / "opt/stoker/lib/stoker/libtorch";
};

TEST_F(FindLibTorch, TakesTheActivePythonEnvironmentBeforeItsOwn) {
  const fs::path inside = torch_in(wheel_, "__all__ = []\n__version__ = '2.15.1+cu132'\n");
  const fs::path own = torch_in(beside_, "");
  write_text(beside_ / "build-version", "2.15.0+cpu\n");
  EXPECT_EQ(find_libtorch({.environments = {venv_}, .program = program_}, "2.15.0").libraries,
            inside);
  EXPECT_EQ(find_libtorch({.environments = {"", folder_.path()}, .program = program_}, "2.15.0")
                .libraries,
            own);
}

TEST_F(FindLibTorch, RefusesOtherVersionsAndGoesOn) {
  torch_in(wheel_, "__version__ = '2.1.0'\n");
  const LibTorchSearch none =
      find_libtorch({.environments = {venv_}, .program = program_}, "2.15.0");
  EXPECT_TRUE(none.libraries.empty());
  EXPECT_THAT(none.refused, ElementsAre(wheel_.string() + ": version 2.1.0"));
  write_text(beside_ / "build-version", "2.15.0");
  const fs::path own = torch_in(beside_, "");
  EXPECT_EQ(find_libtorch({.environments = {venv_}, .program = program_}, "2.15.0").libraries, own);
}

TEST_F(FindLibTorch, WhatItWasBuiltWithComesFirst) {
  torch_in(wheel_, "__version__ = '2.15.0'");
  const fs::path known = torch_in(folder_.path() / "known", "__version__ = '2.15.0'");
  write_text(program_.parent_path() / "lib/stoker/libtorch-path",
             known.parent_path().string() + "\n");
  EXPECT_EQ(find_libtorch({.environments = {venv_}, .program = program_}, "2.15.0").libraries,
            known);
  fs::remove_all(known);
  EXPECT_EQ(find_libtorch({.environments = {venv_}, .program = program_}, "2.15.0").libraries,
            wheel_ / "lib");
}

TEST_F(FindLibTorch, FindsTheWheelBesideOurs) {
  const fs::path packages = folder_.path() / "site-packages";
  const fs::path expected = torch_in(packages / "torch", "__version__ = '2.15.0'");
  EXPECT_EQ(find_libtorch({.program = packages / "stoker" / "bin"}, "2.15.0").libraries, expected);
}

TEST_F(FindLibTorch, NothingElseCountsWhereAFolderIsGiven) {
  torch_in(wheel_, "__version__ = '2.15.0'");
  const LibTorchSearch wrong =
      find_libtorch({.given = folder_.path(), .environments = {venv_}}, "2.15.0");
  EXPECT_TRUE(wrong.libraries.empty());
  EXPECT_THAT(wrong.refused, ElementsAre(folder_.path().string() + ": no lib/libtorch_cpu.so"));
  EXPECT_EQ(find_libtorch({.given = wheel_}, "2.15.0").libraries, wheel_ / "lib");
  EXPECT_EQ(find_libtorch({.given = wheel_ / "lib"}, "2.15.0").libraries, wheel_ / "lib");
}

TEST_F(FindLibTorch, DoesNotTakeWhatTellsNoVersion) {
  for (const std::string text : {"", "version = 2.15.0", "__version__ = 'nightly'"}) {
    torch_in(wheel_, text);
    const LibTorchSearch search = find_libtorch({.environments = {venv_}}, "2.15.0");
    EXPECT_THAT(search.refused, ElementsAre(wheel_.string() + ": unknown version"));
  }
}

TEST_F(FindLibTorch, ReadsOnlyTheBeginningOfAVersion) {
  torch_in(wheel_, std::string(1 << 20, '#') + "\n__version__ = '2.15.0'");
  EXPECT_THAT(find_libtorch({.environments = {venv_}}, "2.15.0").refused,
              ElementsAre(wheel_.string() + ": unknown version"));
}

TEST_F(FindLibTorch, SaysNothingOfPlacesWithoutOne) {
  const LibTorchSearch search =
      find_libtorch({.environments = {venv_}, .program = program_}, "2.15.0");
  EXPECT_TRUE(search.libraries.empty());
  EXPECT_THAT(search.refused, IsEmpty());
}

}  // namespace
}  // namespace stoker
