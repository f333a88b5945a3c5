#include "stoker/cli/child_runs.h"

#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "stoker/cli/child_process.h"
#include "stoker/cli/commands/commands.h"
#include "stoker/cli/screen_text.h"
#include "stoker/core/error.h"
#include "stoker/run/run_facts.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

bool is_finished(const fs::path& run) {
  std::error_code ignored;
  if (!fs::exists(run / "run.json", ignored)) return false;
  RunFacts facts(run / "run.json");
  return facts["state"] == "finished" || facts["state"] == "ended early";
}

// A process that was killed may hold the run's lock for a moment longer.
void wait_until_unlocked(const fs::path& run) {
  const int descriptor = ::open((run / ".lock").c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  for (int i = 0; i < 500 && ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::close(descriptor);
}

std::vector<std::string> arguments_of(const SweepRun& run, const fs::path& folder) {
  const fs::path path = folder / run.name;
  std::error_code ignored;
  if (fs::exists(path / "args.yaml", ignored)) {
    wait_until_unlocked(path);
    return {"train", "--resume", path.string()};
  }
  // Broken off before it began: nothing in there that training made.
  fs::remove_all(path, ignored);
  std::vector<std::string> arguments = {"train"};
  arguments.insert(arguments.end(), run.arguments.begin(), run.arguments.end());
  for (const std::string& word : {"--output=" + folder.string(), "--experiment=" + run.name}) {
    arguments.push_back(word);
  }
  return arguments;
}

}  // namespace

void complete_run(const SweepRun& run, const fs::path& folder, const StopSignals& signals,
                  const std::string& resume) {
  const fs::path path = folder / run.name;
  if (is_finished(path)) return;
  const int code = run_program(arguments_of(run, folder), [&] { return signals.received() != 0; });
  if (code == kStoppedExitCode) {
    show(stderr, fmt::format("stoker: stopped; resume with `{}`\n", resume));
    throw ExitRequest{kStoppedExitCode};
  }
  if (code != 0) {
    throw Error({.what = "a run failed",
                 .path = path.string(),
                 .found = ending_text(code),
                 .hint = fmt::format("{}Resume with `{}`",
                                     code > 128 ? "" : "See its message above. ", resume)});
  }
}

}  // namespace stoker
