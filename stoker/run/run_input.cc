#include "stoker/run/run_input.h"

#include <algorithm>

#include "stoker/core/setting.h"
#include "stoker/data/data_settings.h"
#include "stoker/data/sources/source_range.h"
#include "stoker/run/settings_file.h"
#include "stoker/run/validation_settings.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

fs::path settings_file(const fs::path& folder) { return folder / "args.yaml"; }

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
  append_settings(settings, "", settings_of(options.images.limits));
  append_settings(settings, "", settings_of(options.shards));
  for (const auto& [name, value] : read_yaml_pairs(settings_file(folder))) {
    const auto found = std::ranges::find(settings, name, &Setting::name);
    if (found != settings.end()) set_texts(*found, {value});
  }
  const TrainingParts parts = open_training_parts(validation.request(input.data, options), options);
  input.train = chosen_samples(parts.train, train_samples, input.seed);
  return input;
}

}  // namespace stoker
