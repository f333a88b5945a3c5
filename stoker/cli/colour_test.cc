#include "stoker/cli/colour.h"

#include <gtest/gtest.h>

#include "stoker/cli/command.h"

namespace stoker {
namespace {

using Words = std::vector<std::string>;

TEST(Colour, FollowsTheFlagAndNotTheFileWhereItIsGiven) {
  Words words = {"train", "--color", "always", "data"};
  take_colour_flag(words);
  EXPECT_EQ(words, (Words{"train", "data"}));
  EXPECT_EQ(coloured(TextColour::kRed, "error", stdout), "\x1b[1;31merror\x1b[0m");
  words = {"--color=never"};
  take_colour_flag(words);
  EXPECT_TRUE(words.empty());
  EXPECT_EQ(coloured(TextColour::kRed, "error", stdout), "error");
  words = {"--color=auto"};
  take_colour_flag(words);
  std::FILE* file = std::tmpfile();  // no terminal
  EXPECT_EQ(coloured(TextColour::kGreen, "text", file), "text");
  std::fclose(file);
}

TEST(Colour, OtherValuesAreRefused) {
  Words words = {"--color=pink"};
  EXPECT_THROW(take_colour_flag(words), UsageError);
  words = {"--color"};
  EXPECT_THROW(take_colour_flag(words), UsageError);
  words = {"sweep", "--", "--color", "x"};
  take_colour_flag(words);
  EXPECT_EQ(words.size(), 4U);
}

}  // namespace
}  // namespace stoker
