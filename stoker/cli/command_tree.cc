#include "stoker/cli/command_tree.h"

#include <CLI/CLI.hpp>

namespace stoker {
namespace {

// CLI11 puts them behind the type: "TEXT:{csv,jsonl}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t open = type.find(":{"), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
}

FlagInfo flag_info(const CLI::Option& option) {
  FlagInfo info;
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  info.description = option.get_description();
  const std::string type = option.get_type_name();
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) info.value = type.substr(0, type.find_first_of(": "));
  info.choices = choices_of(type);
  info.otherwise = option.get_default_str();
  info.group = option.get_group();
  return info;
}

CommandInfo tree_of(const CLI::App& app) {
  CommandInfo info{.name = app.get_name(),
                   .description = app.get_description(),
                   .footer = app.get_footer(),
                   .flags = {},
                   .positionals = {},
                   .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    FlagInfo flag = flag_info(*option);
    if (option->get_positional()) {
      FlagInfo positional = flag;
      positional.names = {option->get_name(/*positional=*/true)};
      info.positionals.push_back(std::move(positional));
    }
    if (!flag.names.empty()) info.flags.push_back(std::move(flag));
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    info.commands.push_back(tree_of(*command));
  }
  return info;
}

void add_flag_names(const CLI::App& app, std::set<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    names.insert(option->get_lnames().begin(), option->get_lnames().end());
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) add_flag_names(*command, names);
}

}  // namespace

CommandInfo command_tree(const Command& command) { return tree_of(command.app()); }
CommandInfo command_tree(const CLI::App& app) { return tree_of(app); }

std::set<std::string> flag_names(const Command& command) {
  std::set<std::string> names;
  add_flag_names(command.app(), names);
  return names;
}

}  // namespace stoker
