#include "stoker/run/resume_settings.h"

#include <string_view>

#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/run/run_facts.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

bool has_setting(const std::string& yaml, std::string_view name) {
  return ("\n" + yaml).find(fmt::format("\n{}: ", name)) != std::string::npos;
}

// Settings of a run of an earlier version, in today's words: its "views" were those of cached
// features, and every task was to classify.
std::string current_yaml(std::string yaml) {
  constexpr std::string_view kViews = "\nviews: ";
  if (const std::size_t at = yaml.find(kViews);
      at != std::string::npos && !has_setting(yaml, "cached-views")) {
    yaml.replace(at, kViews.size(), "\ncached-views: ");
  }
  if (!has_setting(yaml, "task")) yaml += "task: classify\n";
  return yaml;
}

// In the form in which settings are compared, whatever the spelling was.
std::string canonical_yaml(const std::string& recorded) {
  std::string yaml = current_yaml(recorded);
  RunSettings settings;
  GivenSettings given;
  try {
    apply_run_settings(settings_of(settings), given, yaml, "checkpoint");
  } catch (const Error&) {
    return yaml;  // of another version: the comparison names what differs
  }
  // Without what a run may change by now, as `isolate` since version 0.2.
  return to_yaml(values_of(settings_of(settings), [&](const Setting& setting) {
    return given.contains(setting.name) && setting.scope == SettingScope::kResult;
  }));
}

// Another number of epochs than the run was started with: allowed where the rates of the epochs
// that are done would have been the same.
void check_new_length(const RunSettings& run, std::uint32_t before) {
  const ScheduleKind kind = run.train.schedule.sched;
  if (!depends_on_length(kind)) return;
  throw Error({.what = "the number of epochs cannot change",
               .path = run.resume,
               .expected = fmt::format("`epochs` {}, on which the {} schedule depends", before,
                                       to_string(kind)),
               .found = fmt::format("{}", run.train.feed.epochs),
               .hint = fmt::format("Start a new run from its weights: `pretrained={}`. Runs with "
                                   "`sched` constant, step or plateau can be extended",
                                   run.resume)});
}

bool has_files(const fs::path& folder, const char* extension) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == extension) return true;
  }
  return false;
}

// How a run ends that has saved its state. One that is "running" was killed.
bool has_saved_its_end(const RunFolder& folder) {
  RunFacts facts(folder.path() / "run.json");
  const auto& state = facts["state"];
  return state == "finished" || state == "ended early" || state == "stopped" ||
         state == "failed in the test";
}

// Without checkpoints a run begins anew, which is right where it was killed before the first. Where
// they were removed, it would write over the results of a run that is done.
void refuse_lost_checkpoints(const RunFolder& folder, bool had_folder) {
  constexpr const char* kExtension = ".safetensors";
  const fs::path results = folder.path() / "results.csv";
  const bool has_weights = has_files(folder.last_weights().parent_path(), kExtension);
  if (has_files(folder.checkpoints(), kExtension) || (!has_weights && !fs::exists(results))) return;
  if (had_folder && !has_saved_its_end(folder)) return;
  throw Error({.what = "the run has results but no checkpoints: resuming would begin anew and "
                       "write over them",
               .path = folder.path().string(),
               .expected = "its files in checkpoints",
               .found = had_folder ? "none" : "no such folder",
               .hint = fmt::format("Bring the checkpoints back, or start a new run, with "
                                   "`pretrained={}` from these weights",
                                   folder.path().string())});
}

std::string with_epochs(std::string yaml, std::uint32_t epochs) {
  constexpr std::string_view kName = "\nepochs: ";
  const std::size_t line = yaml.find(kName);
  if (line == std::string::npos) return yaml;
  const std::size_t begin = line + kName.size();
  return yaml.replace(begin, yaml.find('\n', begin) - begin, fmt::format("{}", epochs));
}

}  // namespace

bool resolve_resume(RunSettings& run) {
  if (run.resume != "auto") return false;
  if (run.experiment.empty()) {
    throw OptionError({.what = "`resume` auto does not know which run is meant",
                       .expected = "`experiment` with the run's name",
                       .found = "none"});
  }
  const bool is_there = RunFolder::is_there(run.output, run.experiment);
  run.resume = is_there ? (fs::path(run.output) / run.experiment).string() : "";
  return !is_there;
}

std::string resumed_settings(const RunFolder& folder) {
  std::error_code ignored;
  return fs::exists(folder.args(), ignored) ? read_text_file(folder.args()) : "";
}

void apply_resumed(RunRequest& request, const std::string& yaml, const std::string& name) {
  request.settings.validation.note_run_settings(yaml);
  apply_run_settings(settings_of(request.settings), request.given, current_yaml(yaml), name);
}

RunFolder open_resumed(RunRequest& request) {
  RunFolder folder = RunFolder::open(request.settings.output, request.settings.resume);
  refuse_lost_checkpoints(folder, fs::is_directory(folder.checkpoints()));
  const std::string yaml = resumed_settings(folder), name = folder.args().string();
  apply_resumed(request, yaml, name);
  RunRequest before;
  apply_resumed(before, yaml, name);
  const std::uint32_t epochs = request.settings.train.feed.epochs;
  if (epochs != before.settings.train.feed.epochs) {
    check_new_length(request.settings, before.settings.train.feed.epochs);
    write_whole_file(folder.args(), with_epochs(yaml, epochs), "run's settings");
  }
  return folder;
}

std::string comparable_yaml(const std::string& yaml, const RunSettings& run) {
  std::string text = canonical_yaml(yaml);
  if (depends_on_length(run.train.schedule.sched)) return text;
  return with_epochs(text, run.train.feed.epochs);
}

}  // namespace stoker
