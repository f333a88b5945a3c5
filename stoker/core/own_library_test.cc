#include "stoker/core/own_library.h"

#include <filesystem>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "stoker/core/test_files.h"

namespace stoker {
namespace {

// What lies beside the program is found by its path, the rest is left to the loader.
TEST(OwnLibrary, IsLookedForBesideTheProgramFirst) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(own_library_paths(program.filename().string()),
            (std::vector<std::string>{program.string(), program.filename().string()}));
  EXPECT_EQ(own_library_paths("libnone.so"), std::vector<std::string>{"libnone.so"});
}

// Whoever fills the folder in which a user stands must not choose what is loaded.
TEST(OwnLibrary, IsNotLookedForInTheCurrentFolder) {
  const TempFolder folder;
  for (const char* place : {"lib", "lib/stoker", "stoker", "."}) {
    folder.write(std::filesystem::path(place) / "libplanted.so", {});
  }
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_EQ(own_library_paths("libplanted.so"), std::vector<std::string>{"libplanted.so"});
  std::filesystem::current_path(before);
}

TEST(OwnLibrary, OneThatIsMissingLeavesAReason) {
  EXPECT_EQ(open_own_library("libstoker_none.so", RTLD_NOW), nullptr);
  EXPECT_NE(std::string(::dlerror()).find("libstoker_none.so"), std::string::npos);
  EXPECT_NE(open_own_library("libm.so.6", RTLD_NOW), nullptr);
}

}  // namespace
}  // namespace stoker
