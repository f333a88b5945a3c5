#include "stoker/cli/help_text.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stoker {
namespace {

constexpr std::size_t kWidth = 100, kLeft = 28;
constexpr std::size_t kShortChoices = 16;      // these stand for the value, longer ones below
constexpr const char* kLastGroup = "Options";  // --help, and flags of commands without groups

// In characters: UTF-8 has bytes that only continue one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// `left`, and `text` beside it in lines of its own column.
std::string columns(const std::string& left, const std::string& text) {
  std::string out = "  " + left;
  std::size_t at = width_of(out);
  const auto new_line = [&] {
    out += "\n" + std::string(kLeft, ' ');
    at = kLeft;
  };
  if (at + 2 > kLeft) {
    new_line();
  } else {
    out += std::string(kLeft - at, ' ');
    at = kLeft;
  }
  std::istringstream words(text);
  bool is_first = true;
  for (std::string word; words >> word;) {
    const std::size_t width = width_of(word);
    if (!is_first && at + 1 + width > kWidth) {
      new_line();
    } else if (!is_first) {
      out += " ";
      ++at;
    }
    out += word;
    at += width;
    is_first = false;
  }
  return out + "\n";
}

std::string value_of(const FlagInfo& flag) {
  if (flag.value.empty()) return "";
  const std::string choices = fmt::format("{}", fmt::join(flag.choices, "|"));
  if (!choices.empty() && choices.size() <= kShortChoices) return " " + choices;
  if (flag.value == "UINT" || flag.value == "INT") return " N";
  return flag.value == "FLOAT" ? " X" : " " + flag.value;
}

std::string described(const FlagInfo& flag) {
  std::string text = flag.description;
  const std::string choices = fmt::format("{}", fmt::join(flag.choices, ", "));
  if (choices.size() > kShortChoices && !flag.choices.empty()) text += " {" + choices + "}";
  if (!flag.otherwise.empty() && !flag.value.empty()) {
    text += fmt::format(" [default: {}]", flag.otherwise);
  }
  return text;
}

bool is_positional(const CommandInfo& command, const FlagInfo& flag) {
  return std::ranges::any_of(command.positionals, [&](const FlagInfo& positional) {
    return "--" + positional.names.front() == flag.names.back();
  });
}

std::string usage(const CommandInfo& command, const std::string& path) {
  std::string line = "Usage: " + path;
  if (!command.commands.empty()) line += " COMMAND";
  line += " [OPTIONS]";
  for (const FlagInfo& positional : command.positionals)
    line += " [" + positional.names.front() + "]";
  return line + "\n";
}

std::vector<std::string> groups_of(const CommandInfo& command) {
  std::vector<std::string> groups;
  for (const FlagInfo& flag : command.flags) {
    if (flag.group != kLastGroup && std::ranges::find(groups, flag.group) == groups.end()) {
      groups.push_back(flag.group);
    }
  }
  groups.emplace_back(kLastGroup);
  return groups;
}

}  // namespace

std::string help_text(const CommandInfo& command, const std::string& path) {
  std::string out = command.description + "\n\n" + usage(command, path);
  if (!command.positionals.empty()) out += "\nArguments:\n";
  for (const FlagInfo& positional : command.positionals) {
    out += columns(positional.names.front(), positional.description);
  }
  if (!command.commands.empty()) out += "\nCommands:\n";
  for (const CommandInfo& each : command.commands) out += columns(each.name, each.description);
  for (const std::string& group : groups_of(command)) {
    out += "\n" + group + ":\n";
    for (const FlagInfo& flag : command.flags) {
      if (flag.group != group || is_positional(command, flag)) continue;
      out += columns(fmt::format("{}{}", fmt::join(flag.names, ", "), value_of(flag)),
                     described(flag));
    }
  }
  if (!command.footer.empty()) out += "\n" + command.footer + "\n";
  return out;
}

}  // namespace stoker
