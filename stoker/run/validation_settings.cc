#include "stoker/run/validation_settings.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// That runs of before there were three splits do not know.
constexpr std::array kNewSettings = {"val-fraction", "val-split", "split-seed",
                                     "test-data",    "folds",     "fold"};

const std::vector<std::string> kWaysToValidate = {"val-data", "val-every", "val-fraction",
                                                  "val-split", "folds"};

std::vector<std::string> other_ways(const std::string& name) {
  std::vector<std::string> others = kWaysToValidate;
  std::erase(others, name);
  return others;
}

SettingText fraction_text(std::optional<double>& fraction) {
  return {.read = [&] { return fmt::format("{}", fraction.value_or(kDefaultValidationFraction)); },
          .write =
              [&fraction](const std::string& text) {
                double number = 0;
                set_texts({.name = "", .help = "", .place = &number, .range = SettingRange{0, 1}},
                          {text});
                fraction = number;
              },
          .type = "number from 0 to 1"};
}

// As it was: the validation part, else a test part with classes.
void keep_old_parts(TrainingRequest& request, const DataOptions& options) {
  const std::string& named =
      request.validation_data.empty() ? request.data : request.validation_data;
  const DataParts parts = find_data_parts(named, options);
  if (parts.validation || !parts.test) return;
  if (open_data(named, Split::kTest, options)->class_names().empty()) return;
  if (request.validation_data.empty()) {
    request.validate_on_test = true;
  } else {
    request.validation_split = Split::kTest;
  }
}

}  // namespace

std::vector<Setting> settings_of(ValidationSettings& validation) {
  return {
      {.name = "val-data",
       .help = "separate validation data, as for --data",
       .place = &validation.data,
       .excludes = other_ways("val-data")},
      {.name = "val-every",
       .help = "validate on every N-th sample of each class, where the data has no validation part",
       .place = &validation.every,
       .excludes = other_ways("val-every")},
      {.name = "val-fraction",
       .help = "validate on this fraction of each class, where the data has no validation part; of "
               "shards, whole shards",
       .place = fraction_text(validation.fraction),
       .excludes = other_ways("val-fraction")},
      {.name = "val-split",
       .help = "validate on the validation part, or one made by --val-fraction (auto), or on the "
               "test part",
       .place = either_text(validation.on_test_part, "auto", "test"),
       .choices = {"auto", "test"},
       .excludes = other_ways("val-split")},
      {.name = "folds",
       .help = "K-fold cross-validation; trains all K folds unless --fold is given",
       .place = &validation.folds,
       .range = SettingRange{0, 1000},
       .excludes = other_ways("folds")},
      {.name = "fold",
       .help = "train only this fold, counted from 0 (-1: all)",
       .place = &validation.fold,
       .range = SettingRange{-1, 999},
       .needs = "folds"},
      {.name = "split-seed",
       .help = "random seed of the split into training and validation",
       .place = &validation.seed},
      {.name = "test-data",
       .help = "separate test data, as for --data",
       .place = &validation.test_data}};
}

void ValidationSettings::note_run_settings(const std::string& yaml) {
  before_three_splits =
      !yaml.starts_with("split-seed:") && yaml.find("\nsplit-seed:") == std::string::npos;
}

void ValidationSettings::check() const {
  if (before_three_splits) return;  // what they had together had an order
  if (wants_all_folds()) {
    throw OptionError({.what = "several ranks train one fold at a time",
                       .expected = fmt::format("`fold` 0 to {}", folds - 1),
                       .found = fmt::format("`folds` {} alone", folds)});
  }
  std::vector<std::string> given;
  if (!data.empty()) given.emplace_back("`val_data`");
  if (every > 0) given.emplace_back("`val_every`");
  if (fraction.value_or(0) > 0) given.emplace_back("`val_fraction`");
  if (on_test_part) given.emplace_back("`val_split`");
  if (folds > 0) given.emplace_back("`folds`");
  if (given.size() < 2) return;
  throw OptionError({.what = "settings exclude one another",
                     .expected = "one way to validate",
                     .found = fmt::format("{}", fmt::join(given, ", "))});
}

TrainingRequest ValidationSettings::request(const std::string& training_data,
                                            const DataOptions& options) const {
  TrainingRequest request{.data = training_data,
                          .validation_data = data,
                          .test_data = test_data,
                          .seed = seed,
                          .validate_on_test = on_test_part};
  if (before_three_splits) keep_old_parts(request, options);
  using Kind = Division::Kind;
  if (folds > 0) {
    request.division = {.kind = Kind::kFolds,
                        .folds = folds,
                        .fold = static_cast<std::uint32_t>(fold),
                        .seed = seed};
  } else if (every > 0) {
    request.division = {.kind = Kind::kEvery, .every = every};
  } else if (fraction) {
    request.division = {.kind = Kind::kFraction, .fraction = *fraction, .seed = seed};
  }
  return request;
}

ValidationSettings ValidationSettings::resolved(const TrainingParts& parts) const {
  ValidationSettings settings = *this;
  const bool by_fraction = parts.division && parts.division->kind == Division::Kind::kFraction;
  settings.fraction = by_fraction ? parts.division->fraction : 0;
  return settings;
}

bool ValidationSettings::is_recorded(const std::string& name) const {
  return !before_three_splits || std::ranges::find(kNewSettings, name) == kNewSettings.end();
}

}  // namespace stoker
