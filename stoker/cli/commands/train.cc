// `stoker train`: trains a model, alone or as one of several ranks, or resumes a run.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/error_message.h"
#include "stoker/cli/folds.h"
#include "stoker/cli/option_text.h"
#include "stoker/cli/run_screen.h"
#include "stoker/cli/screen_text.h"
#include "stoker/cli/setting_flags.h"
#include "stoker/cli/timely_end.h"
#include "stoker/run/run_folder.h"
#include "stoker/run/torch_errors.h"
#include "stoker/run/train_run.h"
#include "stoker/run/train_setup.h"

namespace stoker {
namespace {

[[noreturn]] void end_process(const std::string& rank, const std::exception& error) {
  show(stderr,
       fmt::format("stoker: {}{}\n", rank.empty() ? "" : rank + ": ", error_message(error)));
  std::fflush(nullptr);
  std::_Exit(exit_code_of(error));
}

void say_not_begun(int signal) {
  show(stderr, fmt::format("stoker: stopped by SIG{} before the run began to train\n",
                           sigabbrev_np(signal)));
}

// Several folds, each as a process of its own. False where one run is meant.
bool run_folds(const RunRequest& request) {
  if (const auto folder = folds_to_resume(request.settings)) {
    complete_folds(*folder);
    return true;
  }
  const RunSettings& given = request.settings;
  const bool is_resumed =
      !given.resume.empty() && (given.resume != "auto" || given.experiment.empty() ||
                                RunFolder::is_there(given.output, given.experiment));
  if (is_resumed) return false;
  RunRequest all = request;
  apply_named_settings(all);
  RunSettings& run = all.settings;
  if (!run.validation.wants_all_folds()) return false;
  RunSettings first = run;
  first.validation.fold = 0;
  first.resolve();
  static_cast<void>(open_parts(first));  // fails before anything is written
  complete_folds(make_folds_folder(all, default_run_name(run) + "-folds"));
  return true;
}

void run(const RunRequest& request) {
  outlive_readers();  // a run is worth more than its lines on the screen
  const bool is_alone = read_launch(request.settings.ranks.launch).ranks == 1;
  if (is_alone && run_folds(request)) return;
  const StopSignals signals;
  TimelyEnd before_run(signals, say_not_begun);
  RunScreen screen;
  const RunResult result = train_run(request, screen.events(signals, before_run), end_process);
  if (result.end == RunEnd::kStopped) throw ExitRequest{kStoppedExitCode};
  if (result.end == RunEnd::kDiverged) {
    show(stderr, fmt::format("stoker: {}\n", with_flags(result.divergence)));
    throw ExitRequest{1};
  }
}

}  // namespace

void add_train_command(const Command& parent) {
  const Command command = parent.add_command("train", "Train a model or resume a run");
  auto settings = std::make_shared<RunSettings>();
  add_settings(command, settings_of(*settings));
  command.on_run([settings, command] {
    translate_torch_errors([&] {
      run({.settings = *settings, .given = given_settings(command, settings_of(*settings))});
    });
  });
}

}  // namespace stoker
