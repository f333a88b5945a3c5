// stoker: parses the command line, runs the command, and turns errors into messages and exit codes:
// 0 success, 1 failure, 2 wrong usage, 3 stopped by a signal and ready to be resumed.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/commands/devices.h"
#include "stoker/cli/error_message.h"
#include "stoker/cli/openmp_wait.h"
#ifdef STOKER_TRAINER
#include "stoker/cli/torch_errors.h"
#endif
#include "stoker/cli/usage_hint.h"
#include "stoker/core/error.h"

namespace {

// Errors of libraries become ours where they say what a user can do.
void in_words_for_users(const std::function<void()>& action) {
#ifdef STOKER_TRAINER
  stoker::in_our_words(action);
#else
  action();
#endif
}

int run(int argc, char** argv) {
  CLI::App app("Trains image classifiers and keeps the device fed.", "stoker");
  app.set_version_flag("--version", "stoker " STOKER_VERSION);
  app.require_subcommand(1);
  // The last of two equal flags wins, as in scripts that add to a command line.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.footer(
      "Examples:\n"
#ifdef STOKER_TRAINER
      "  stoker train --data mnist --model mlp:784,128,10\n"
      "  stoker eval --data mnist --weights runs/mnist-mlp/weights/best.safetensors\n"
      "  stoker export runs/mnist-mlp/weights/best.safetensors --out model.onnx\n"
#endif
      "  stoker report runs/mnist-mlp\n"
      "  stoker sweep --vary workers=1,2,4 --repeat 3 -- --data mnist --model mlp:784,128,10\n"
      "  stoker doctor flowers/ --write-list clean.tsv\n"
      "  stoker preview --data fashion-mnist --aa mnist -o sheet.png\n"
      "  stoker bench feed --data mnist --aa \"rotate(-10,10),noise(0.05)\" --workers 2\n"
      "  stoker filter photo.jpg --all --out edges.png\n"
      "  stoker split plates/train --every 6 --out splits\n"
      "  stoker shard flowers/ --out shards --shard-size 256MB\n"
      "  stoker ops");
#ifdef STOKER_TRAINER
  stoker::add_train_command(app);
  stoker::add_eval_command(app);
  stoker::add_predict_command(app);
  stoker::add_export_command(app);
  stoker::add_sweep_command(app);
  stoker::add_devices_command(app);
#endif
  stoker::add_report_command(app);
  stoker::add_doctor_command(app);
  stoker::add_info_command(app);
  stoker::add_preview_command(app);
  stoker::add_split_command(app);
  stoker::add_shard_command(app);
  stoker::add_plot_command(app);
  stoker::add_filter_command(app);
  stoker::add_bench_command(app);
  stoker::add_ops_command(app);
  stoker::add_completion_command(app);
  stoker::add_man_command(app, STOKER_VERSION);
  try {
    in_words_for_users([&] { app.parse(argc, argv); });
    if (std::fflush(stdout) != 0) {
      throw stoker::Error({.what = "cannot write the output", .found = std::strerror(errno)});
    }
    return 0;
  } catch (const stoker::ExitRequest& request) {
    return request.code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::string hint = stoker::usage_hint(stoker::command_tree(app), {argv + 1, argv + argc});
    if (hint.empty()) return app.exit(error), 2;
    std::fprintf(stderr, "stoker: %s\nRun with --help for more information.\n", hint.c_str());
    return 2;
  }
}

#ifdef STOKER_TRAINER
// Called before the constructors of any library.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const kBeforeConstructors)(int, char**,
                                                char**) = stoker::restart_with_short_spinning;
#endif

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stoker: %s\n", stoker::error_message(error).c_str());
    return 1;
  }
}
