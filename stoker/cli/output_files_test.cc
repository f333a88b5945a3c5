#include "stoker/cli/output_files.h"

#include <gtest/gtest.h>

#include "stoker/core/error.h"
#include "stoker/core/test_files.h"

namespace stoker {
namespace {

TEST(OutputFiles, WhatIsThereStaysUnlessForced) {
  const TempFolder folder;
  folder.write("there.png", {});
  const std::string there = (folder.path() / "there.png").string();
  const std::string new_one = (folder.path() / "new.png").string();
  CommandLine line("program", "");
  OutputFiles files;
  files.add_to(line.root());
  EXPECT_NO_THROW(files.check({"", "-", "/dev/null", new_one}));
  EXPECT_THROW(files.check({new_one, there}), Error);
  line.parse("--force");
  EXPECT_NO_THROW(files.check({there}));
}

}  // namespace
}  // namespace stoker
