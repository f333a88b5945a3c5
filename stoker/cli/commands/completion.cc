// `stoker completion` and `stoker man`: what a shell completes, and the manual page.
#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/shell_completion.h"

namespace stoker {
namespace {

std::string completion_for(const std::string& shell, const Command& program) {
  const CommandInfo tree = command_tree(program);
  if (shell == "zsh") return zsh_completion(tree);
  return shell == "fish" ? fish_completion(tree) : bash_completion(tree);
}

}  // namespace

void add_completion_command(const Command& parent) {
  const Command command = parent.add_command("completion", "Print a shell completion script");
  auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash, zsh or fish")
      .required()
      .one_of({"bash", "zsh", "fish"});
  command.footer(
      "Examples:\n  eval \"$(stoker completion bash)\"      in ~/.bashrc\n"
      "  stoker completion fish > ~/.config/fish/completions/stoker.fish");
  command.on_run([shell, parent] { fmt::print("{}", completion_for(*shell, parent)); });
}

void add_man_command(const Command& parent, const std::string& version) {
  const Command command = parent.add_command("man", "Print the manual page");
  command.footer("Examples:\n  stoker man | man -l -");
  command.on_run(
      [parent, version] { fmt::print("{}", manual_page(command_tree(parent), version)); });
}

}  // namespace stoker
