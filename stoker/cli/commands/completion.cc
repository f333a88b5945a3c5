// `stoker completion` and `stoker man`: what a shell completes, and the manual page.
#include <fmt/format.h>

#include "stoker/augment/presets.h"
#include "stoker/augment/registry.h"
#include "stoker/cli/commands/commands.h"
#include "stoker/cli/shell_completion.h"

namespace stoker {
namespace {

// Of --aa: presets, and operations, of which a policy is a list.
std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const Preset& preset : builtin_presets()) names.push_back(preset.name);
  for (const OperationSchema& operation : builtin_operations()) names.push_back(operation.name);
  return names;
}

std::string completion_for(const std::string& shell, const Command& program, OfferedValues values) {
  values["--aa"] = values["--val-aa"] = policy_names();
  const CommandInfo tree = with_offered_values(command_tree(program), values);
  if (shell == "zsh") return zsh_completion(tree);
  return shell == "fish" ? fish_completion(tree) : bash_completion(tree);
}

}  // namespace

void add_completion_command(const Command& parent, const OfferedValues& values) {
  const Command command = parent.add_command("completion", "Print a shell completion script");
  auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash, zsh or fish")
      .required()
      .one_of({"bash", "zsh", "fish"});
  command.footer(
      "Examples:\n  eval \"$(stoker completion bash)\"      in ~/.bashrc\n"
      "  stoker completion fish > ~/.config/fish/completions/stoker.fish");
  command.on_run(
      [shell, parent, values] { fmt::print("{}", completion_for(*shell, parent, values)); });
}

void add_man_command(const Command& parent, const std::string& version) {
  const Command command = parent.add_command("man", "Print the manual page");
  command.footer("Examples:\n  stoker man | man -l -");
  command.on_run(
      [parent, version] { fmt::print("{}", manual_page(command_tree(parent), version)); });
}

}  // namespace stoker
