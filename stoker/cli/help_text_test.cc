#include "stoker/cli/help_text.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CommandInfo example() {
  const std::string words = "word and word and word and word and word and word and word and word";
  return {.name = "train",
          .description = "Train a model",
          .footer = "Examples:\n  stoker train mnist",
          .flags = {{.names = {"-h", "--help"}, .description = "help", .group = "Options"},
                    {.names = {"--data"}, .description = words, .value = "TEXT", .group = "Data"},
                    {.names = {"-b", "--batch-size"},
                     .description = words + " … " + words,
                     .value = "UINT",
                     .otherwise = "64",
                     .group = "Data"},
                    {.names = {"--features"},
                     .description = "compute",
                     .value = "TEXT",
                     .otherwise = "fresh",
                     .choices = {"fresh", "cached"},
                     .group = "Network"}},
          .positionals = {{.names = {"data"}, .description = words, .value = "TEXT"}},
          .commands = {}};
}

TEST(HelpText, HasOneLinePerFlagInItsGroup) {
  const std::string text = help_text(example(), "stoker train");
  EXPECT_THAT(text, HasSubstr("Usage: stoker train [OPTIONS] [data]\n"));
  EXPECT_THAT(text,
              HasSubstr("\nNetwork:\n  --features fresh|cached   compute [default: fresh]\n"));
  EXPECT_THAT(text, HasSubstr("  -b, --batch-size N        word"));
  EXPECT_THAT(text, HasSubstr("[default: 64]"));
  EXPECT_LT(text.find("Network:"), text.find("Options:"));
  EXPECT_THAT(text, Not(HasSubstr("--data")));  // it is the argument
}

TEST(HelpText, HasNoLineOverAHundredColumns) {
  std::istringstream lines(help_text(example(), "stoker train"));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 102u) << line;
}

}  // namespace
}  // namespace stoker
