// stoker-trainer: every command of stoker, with LibTorch. Started by stoker, see trainer_process.h.
#include <sys/prctl.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/program.h"
#include "stoker/cli/trainer_process.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/run/label_check.h"
#include "stoker/run/recipes.h"
#include "stoker/run/torch_errors.h"

namespace {

void add_trainer_commands(const stoker::Command& program) {
  stoker::add_train_command(program);
  stoker::add_eval_command(program);
  stoker::add_predict_command(program);
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

}  // namespace

int main(int argc, char** argv) {
  stoker::restore_library_path();
  ::prctl(PR_SET_NAME, "stoker");  // for ps and killall: it is what the user started
  return stoker::run_command_line(argc, argv,
                                  {.add_commands = add_trainer_commands,
                                   .check_labels = stoker::check_labels,
                                   .offered_values = offered_values(),
                                   .run = stoker::translate_torch_errors});
}
