#include "stoker/cli/shell_completion.h"

#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/shell_quoted.h"

namespace stoker {
namespace {

// Every command below the program, with its path: "bench", then "bench/feed".
void for_each_command(const CommandInfo& parent, const std::string& path,
                      const std::function<void(const CommandInfo&, const std::string&)>& action) {
  for (const CommandInfo& command : parent.commands) {
    const std::string below = path.empty() ? command.name : path + "/" + command.name;
    action(command, below);
    for_each_command(command, below, action);
  }
}

std::vector<std::string> words_of(const CommandInfo& command) {
  std::vector<std::string> words;
  for (const CommandInfo& one : command.commands) words.push_back(one.name);
  for (const FlagInfo& flag : command.flags) {
    words.insert(words.end(), flag.names.begin(), flag.names.end());
  }
  return words;
}

// zsh's _arguments gives these a meaning of its own.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_argument(const FlagInfo& flag, const std::string& name) {
  std::string text = fmt::format("{}[{}]", name, zsh_text(flag.description));
  if (flag.value.empty()) return text;
  const std::string values =
      flag.choices.empty() ? "_files" : fmt::format("({})", fmt::join(flag.choices, " "));
  return text + fmt::format(":{}:{}", flag.value, values);
}

std::string zsh_function(const std::string& path) {
  std::string name = "_stoker";
  for (const char c : path.empty() ? "" : "_" + path) name += c == '/' ? '_' : c;
  return name;
}

std::string zsh_arguments(const CommandInfo& command) {
  std::string text = "  _arguments -s -S";
  for (const FlagInfo& flag : command.flags) {
    for (const std::string& name : flag.names)
      text += " \\\n    " + shell_quoted(zsh_argument(flag, name));
  }
  if (!command.positionals.empty()) text += " \\\n    '*:file:_files'";
  return text + "\n";
}

// A command with commands below it: their names first, then what the chosen one takes.
std::string zsh_dispatch(const CommandInfo& command, const std::string& path) {
  std::string text = "  local -a commands=(\n";
  for (const CommandInfo& one : command.commands) {
    text += fmt::format("    {}\n", shell_quoted(one.name + ":" + one.description));
  }
  text +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local name=$words[2]\n  shift words\n  (( --CURRENT ))\n  case $name in\n";
  for (const CommandInfo& one : command.commands) {
    text += fmt::format("    {}) {} ;;\n", one.name,
                        zsh_function(path.empty() ? one.name : path + "/" + one.name));
  }
  return text + "  esac\n";
}

std::string fish_condition(const std::string& path) {
  if (path.empty()) return "__fish_use_subcommand";
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return "__fish_seen_subcommand_from " + path;
  return fmt::format("__fish_seen_subcommand_from {}; and __fish_seen_subcommand_from {}",
                     path.substr(0, slash), path.substr(slash + 1));
}

std::string fish_lines(const CommandInfo& command, const std::string& path) {
  const std::string begin = "complete -c stoker -n " + shell_quoted(fish_condition(path));
  std::string text;
  for (const CommandInfo& one : command.commands) {
    text += fmt::format("{} -f -a {} -d {}\n", begin, one.name, shell_quoted(one.description));
  }
  for (const FlagInfo& flag : command.flags) {
    text += begin;
    for (const std::string& name : flag.names) {
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (!flag.value.empty()) text += flag.choices.empty() ? " -r" : " -x";
    if (!flag.choices.empty()) text += fmt::format(" -a '{}'", fmt::join(flag.choices, " "));
    text += fmt::format(" -d {}\n", shell_quoted(flag.description));
  }
  return text;
}

}  // namespace

CommandInfo with_offered_values(CommandInfo program, const OfferedValues& values) {
  for (FlagInfo& flag : program.flags) {
    const auto found = values.find(flag.names.back());
    if (flag.choices.empty() && found != values.end()) flag.choices = found->second;
  }
  for (CommandInfo& command : program.commands) {
    command = with_offered_values(std::move(command), values);
  }
  return program;
}

std::string bash_completion(const CommandInfo& program) {
  std::vector<std::string> paths;
  std::string words = fmt::format("    \"\") words=\"{}\" ;;\n", fmt::join(words_of(program), " "));
  std::string choices;
  for_each_command(program, "", [&](const CommandInfo& command, const std::string& path) {
    paths.push_back(path.find('/') == std::string::npos ? "/" + path : path);
    words += fmt::format("    {}) words=\"{}\" ;;\n", path, fmt::join(words_of(command), " "));
    for (const FlagInfo& flag : command.flags) {
      if (flag.choices.empty()) continue;
      for (const std::string& name : flag.names) {
        choices += fmt::format("    {}\\ {}) values=\"{}\" ;;\n", path, name,
                               fmt::join(flag.choices, " "));
      }
    }
  });
  return fmt::format(
      "# Completion for bash, made by `stoker completion bash`.\n"
      "_stoker() {{\n"
      "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command=\"\" values=\"\" words=\"\" word\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$command/$word\" in\n"
      "      {}) command=\"${{command:+$command/}}$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command $previous\" in\n{}  esac\n"
      "  case \"$command\" in\n{}  esac\n"
      "  if [[ -n $values ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
      "  elif [[ $current == -* || -z $command || $command == bench ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  fi\n"
      "}}\n"
      "# What is not completed here is a file.\n"
      "complete -o default -F _stoker stoker\n",
      fmt::join(paths, "|"), choices, words);
}

std::string zsh_completion(const CommandInfo& program) {
  std::string text = "#compdef stoker\n# Completion for zsh, made by `stoker completion zsh`.\n";
  const auto add = [&](const CommandInfo& command, const std::string& path) {
    text += fmt::format(
        "{}() {{\n{}}}\n", zsh_function(path),
        command.commands.empty() ? zsh_arguments(command) : zsh_dispatch(command, path));
  };
  for_each_command(program, "", add);
  add(program, "");
  return text + "compdef _stoker stoker\n";
}

std::string fish_completion(const CommandInfo& program) {
  std::string text = "# Completion for fish, made by `stoker completion fish`.\n";
  text += fish_lines(program, "");
  for_each_command(program, "", [&](const CommandInfo& command, const std::string& path) {
    text += fish_lines(command, path);
  });
  return text;
}

}  // namespace stoker
