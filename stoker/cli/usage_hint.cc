#include "stoker/cli/usage_hint.h"

#include <algorithm>

#include <fmt/format.h>

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

}  // namespace

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
