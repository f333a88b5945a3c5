#include "stoker/run/run_input.h"

#include <algorithm>

#include "stoker/core/error.h"
#include "stoker/core/setting.h"
#include "stoker/data/data_settings.h"
#include "stoker/data/sources/source_range.h"
#include "stoker/run/settings_file.h"
#include "stoker/run/validation_settings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

fs::path settings_file(const fs::path& folder) { return folder / "args.yaml"; }

// Settings that the list lacks are passed over.
void read_settings(const fs::path& folder, const std::vector<Setting>& settings) {
  for (const auto& [name, value] : read_yaml_pairs(settings_file(folder))) {
    const auto found = std::ranges::find(settings, name, &Setting::name);
    if (found != settings.end()) set_texts(*found, {value});
  }
}

}  // namespace

bool is_run_folder(const fs::path& folder) { return fs::is_regular_file(settings_file(folder)); }

RunInput open_run_input(const fs::path& folder) {
  RunInput input;
  std::string train_samples = "0";
  ValidationSettings validation;
  DataOptions options;
  // Of all settings of a run, those that decide which samples are trained on.
  std::vector<Setting> settings = {{.name = "data", .help = "", .place = &input.data},
                                   {.name = "aa", .help = "", .place = &input.policy},
                                   {.name = "seed", .help = "", .place = &input.seed},
                                   {.name = "train-samples", .help = "", .place = &train_samples}};
  append_settings(settings, "", settings_of(validation));
  append_settings(settings, "", settings_of(options.images));
  append_settings(settings, "", settings_of(options.shards));
  append_settings(settings, "", settings_of(options.table));
  read_settings(folder, settings);
  const TrainingParts parts = open_training_parts(validation.request(input.data, options), options);
  input.train = chosen_samples(parts.train, train_samples, input.seed);
  return input;
}

TableColumns with_run_columns(TableColumns given, const fs::path& weights) {
  // RUN, or RUN/weights/best.safetensors
  const fs::path folder =
      is_run_folder(weights) ? weights : fs::absolute(weights).parent_path().parent_path();
  if (!is_run_folder(folder)) return given;
  TableColumns run;
  try {
    read_settings(folder, settings_of(run));
  } catch (const Error&) {  // another program's file of this name
    return given;
  }
  if (given.label.empty() && given.labels.empty() && given.targets.empty()) {
    given.label = run.label;
    given.labels = run.labels;
    given.targets = run.targets;
  }
  if (given.path.empty()) given.path = run.path;
  if (given.split.empty()) given.split = run.split;
  if (given.weight.empty()) given.weight = run.weight;
  return given;
}

}  // namespace stoker
