#include "stoker/cli/usage_hint.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "stoker/cli/foreign_flags.h"
#include "stoker/core/suggest.h"

namespace stoker {
namespace {

std::string sentence(const char* what, const std::string& typed,
                     const std::vector<std::string>& names) {
  const std::string meant = did_you_mean(typed, names);
  return fmt::format("unknown {} {}.{}", what, typed, meant.empty() ? "" : " " + meant);
}

std::vector<std::string> names_of(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  for (const CommandInfo& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> flags_of(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const FlagInfo& flag : command.flags) {
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  return names;
}

// "fliplr=0.5", as Ultralytics' users write it.
std::string advice_on_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (word.starts_with("-") || equals == std::string::npos) return "";
  return advice_on_flag(word.substr(0, equals));
}

}  // namespace

std::string plain_usage_text(const std::string& message) {
  struct Wording {
    const char *theirs, *ours;
  };
  static const std::array kWordings = {
      Wording{R"(Could not convert: (\S+) = (.*))", R"(\1: expected a number, got "\2")"},
      Wording{R"((\S+): Value (.*) not in range (\S+) to (\S+))",
              R"(\1: expected a number from \3 to \4, got "\2")"},
      Wording{R"((\S+): (.*) not in \{(.*)\})", R"(\1: expected one of \3, got "\2")"},
      Wording{R"(\S+: (?:Directory|Path|File) does not exist: (.*))",
              R"(cannot find \1. Check the path)"},
      Wording{R"(The following arguments? (?:was|were) not expected: (.*))",
              R"(unexpected argument: \1)"},
      Wording{R"((\S+) excludes (\S+))", R"(\1 cannot be used with \2. Remove one of them)"},
      Wording{R"((\S+) requires (\S+))", R"(\1 works only with \2. Add it)"},
      Wording{R"((\S+) is required)", R"(\1 is missing)"},
  };
  std::string plain = message;
  for (const Wording& wording : kWordings) {
    // Anchored, so that nothing but the whole message is replaced.
    const RE2 theirs(fmt::format("^{}$", wording.theirs), RE2::Latin1);
    if (RE2::Replace(&plain, theirs, wording.ours)) break;
  }
  return plain;
}

std::string usage_hint(const CommandInfo& program, const std::vector<std::string>& words) {
  const CommandInfo* command = &program;
  std::string path = program.name;
  for (const std::string& word : words) {
    if (word == "--") break;
    if (!command->commands.empty() && !word.starts_with("-")) {
      const auto found = std::ranges::find(command->commands, word, &CommandInfo::name);
      if (found == command->commands.end()) {
        return sentence("command", word, names_of(command->commands));
      }
      command = &*found;
      path += " " + word;
    } else if (const std::string instead = advice_on_assignment(word); !instead.empty()) {
      return fmt::format("`{}` has no {}: {}.", path, word, instead);
    } else if (word.starts_with("--")) {
      const std::string name = word.substr(0, word.find('='));
      const std::vector<std::string> flags = flags_of(*command);
      if (std::ranges::find(flags, name) == flags.end()) {
        if (const std::string advice = advice_on_flag(name); !advice.empty()) {
          return fmt::format("`{}` has no {}: {}.", path, name, advice);
        }
        return sentence(fmt::format("flag of `{}`:", path).c_str(), name, flags);
      }
    }
  }
  return "";
}

}  // namespace stoker
