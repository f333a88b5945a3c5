// stoker-trainer: every command of stoker, with LibTorch. Started by stoker, see trainer_process.h.
#include <cstdio>
#include <iostream>

#include <sys/prctl.h>
#include <unistd.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/program.h"
#include "stoker/cli/trainer_process.h"
#include "stoker/core/float_mode.h"
#include "stoker/core/sanitizers.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/run/label_check.h"
#include "stoker/run/recipes.h"
#include "stoker/run/torch_errors.h"

namespace {

void add_trainer_commands(const stoker::Command& program) {
  stoker::add_train_command(program);
  stoker::add_eval_command(program);
  stoker::add_predict_command(program);
  stoker::add_calibrate_command(program);
  stoker::add_serve_command(program);
  stoker::add_export_command(program);
  stoker::add_sweep_command(program);
  stoker::add_devices_command(program);
  stoker::add_settings_command(program);
}

stoker::OfferedValues offered_values() {
  stoker::OfferedValues values;
  for (const stoker::ModelFamily& family : stoker::model_families()) {
    if (family.members.empty()) values["--model"].push_back(family.name);
    for (const std::string& member : family.members) values["--model"].push_back(member);
  }
  for (const stoker::Recipe& recipe : stoker::recipes()) values["--recipe"].push_back(recipe.name);
  return values;
}

// Ends the process without LibTorch's destructors: they take every operator out of its tables
// again, 0.2 s after each command. Sanitizers look for leaks at a process's regular end.
int end_process(int code) {
#if !STOKER_ASAN && !STOKER_TSAN
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  ::_exit(code);
#else
  return code;
#endif
}

}  // namespace

int main(int argc, char** argv) {
  stoker::restore_library_path();
  ::prctl(PR_SET_NAME, "stoker");  // for ps and killall: it is what the user started
  // As the trainer does (train/flush_subnormals.h): what it validates, other commands evaluate.
  stoker::set_float_mode(stoker::FloatMode::kFlushSubnormals);
  const int code = stoker::run_command_line(argc, argv,
                                            {.add_commands = add_trainer_commands,
                                             .check_labels = stoker::check_labels,
                                             .offered_values = offered_values(),
                                             .run = stoker::translate_torch_errors});
  return end_process(code);
}
