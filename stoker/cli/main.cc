// stoker, the program that users call. It has the commands that do without LibTorch, so that they
// start within milliseconds; for all others it becomes stoker-trainer (trainer_main.cc).
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "stoker/cli/program.h"
#include "stoker/cli/ready_text.h"
#include "stoker/cli/trainer_process.h"

int main(int argc, char** argv) {
  const auto pass_on = [&] {
    const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    const std::filesystem::path program = stoker::program_path();
    if (stoker::print_ready_text(words, program.parent_path())) std::exit(0);
    stoker::become_trainer(argc, argv);
  };
  return stoker::run_command_line(argc, argv, {.pass_on = pass_on});
}
