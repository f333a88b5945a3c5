// stoker, the program that users call. It has the commands that do without LibTorch, so that they
// start within milliseconds; for all others it becomes stoker-trainer (trainer_main.cc).
#include "stoker/cli/program.h"
#include "stoker/cli/trainer_process.h"

int main(int argc, char** argv) {
  return stoker::run_command_line(argc, argv,
                                  {.pass_on = [&] { stoker::become_trainer(argc, argv); }});
}
