// `stoker log`: sends a run to an experiment tracker. Their libraries are Python's, so a script
// does it (python/log_run.py), with the Python that is first in PATH.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/core/error.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct LogFlags {
  std::string run, to, project = "stoker";
};

// Beside the program in a build, in share/ where it is installed.
fs::path script_path() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& path :
       {folder / "log_run.py", folder.parent_path() / "share" / "stoker" / "log_run.py"}) {
    if (fs::exists(path)) return path;
  }
  throw Error({.what = "cannot find log_run.py",
               .path = folder.string(),
               .hint = "Install stoker again: the script is part of it"});
}

void run(const LogFlags& flags) {
  const std::string script = script_path().string();
  std::vector<std::string> words = {"python3", script,      flags.run,    "--to",
                                    flags.to,  "--project", flags.project};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp("python3", pointers.data());
  throw Error({.what = "cannot start python3",
               .found = std::strerror(errno),
               .hint = "`stoker log` needs Python 3 in PATH"});
}

}  // namespace

void add_log_command(const Command& parent) {
  const Command command =
      parent.add_command("log", "Send a run to Weights & Biases, MLflow or trackio");
  auto flags = std::make_shared<LogFlags>();
  command.add_option("run", flags->run, "folder of the run").required().existing_folder();
  command.add_option("--to", flags->to, "tracker; its Python package must be installed")
      .required()
      .one_of({"wandb", "mlflow", "trackio"});
  command.add_option("--project", flags->project, "project or experiment of the tracker");
  command.footer("Examples:\n  stoker log runs/mnist-cnn --to wandb --project digits");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
