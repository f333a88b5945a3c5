#include "stoker/cli/screen_text.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace stoker {
namespace {

std::string content(std::FILE* file) {
  std::array<char, 200> bytes{};
  std::rewind(file);
  return {bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file)};
}

TEST(ScreenText, ControlCharactersOfNamesDoNotReachTheTerminal) {
  std::FILE* file = std::tmpfile();
  show(file, "cannot read \x1b]0;title\x07.png\nnext\n");
  EXPECT_EQ(content(file), "cannot read \\x1b]0;title\\x07.png\nnext\n");
  std::fclose(file);
  file = std::tmpfile();
  show_as_it_is(file, "\x1b[1A");
  EXPECT_EQ(content(file), "\x1b[1A");
  std::fclose(file);
}

TEST(ScreenText, WithoutAReaderTheTextIsDroppedAndTheFileStaysUsable) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  std::FILE* file = ::fdopen(ends[1], "w");
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  outlive_readers();
  show(file, "line\n");
  show(file, "line\n");
  EXPECT_GT(std::fputs("of another part\n", file), 0);
  EXPECT_EQ(std::fflush(file), 0);
  EXPECT_EQ(std::fclose(file), 0);
  std::signal(SIGPIPE, before);
}

TEST(ScreenText, AFullDiskIsStillFoundOutAtTheEnd) {
  std::FILE* file = std::fopen("/dev/full", "we");
  ASSERT_NE(file, nullptr);
  show(file, "line\n");
  show(file, "line\n");
  EXPECT_NE(std::ferror(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace stoker
