#include "stoker/cli/validation_flags.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"

namespace stoker {
namespace {

// Flags that runs of before there were three splits do not know.
constexpr std::array kNewFlags = {"val-fraction", "val-split", "split-seed",
                                  "test-data",    "folds",     "fold"};

}  // namespace

void ValidationFlags::add_to(const Command& command) {
  const Flag other = command.add_option("--val-data", data, "other validation data, as for --data");
  const Flag nth = command.add_option(
      "--val-every", every,
      "of training data without a validation part, every N-th sample of each class "
      "validates");
  const Flag by_fraction =
      command
          .add_option("--val-fraction", fraction,
                      "of training data without a validation part, this fraction of each class "
                      "validates, chosen by --split-seed; of shards, whole shards")
          .between(0.0, 1.0);
  const Flag part =
      command
          .add_option("--val-split", split,
                      "auto: the validation part, or one made by --val-fraction; test: validate on "
                      "the test part")
          .one_of({"auto", "test"});
  const Flag cross =
      command
          .add_option("--folds", folds,
                      "K-fold cross-validation of the training data, by --split-seed; without "
                      "--fold trains all K in one folder")
          .between(0, 1000);
  command.add_option("--fold", fold, "only this fold, counted from 0 (-1: all)")
      .between(-1, 999)
      .needs(cross);
  command.add_option("--split-seed", seed, "seed of the division of training data");
  command.add_option("--test-data", test_data, "other data for the test at the end, as for --data");
  fraction_flag_ = by_fraction;
  const std::array exclusive = {other, nth, by_fraction, part, cross};
  for (std::size_t a = 0; a < exclusive.size(); ++a) {
    for (std::size_t b = a + 1; b < exclusive.size(); ++b) exclusive[a].excludes(exclusive[b]);
  }
}

void ValidationFlags::note_run_settings(const std::string& yaml) {
  before_three_splits_ =
      !yaml.starts_with("split-seed:") && yaml.find("\nsplit-seed:") == std::string::npos;
}

bool ValidationFlags::fraction_given() const {
  return fraction_flag_ && fraction_flag_->is_given();
}

void ValidationFlags::check() const {
  if (before_three_splits_) return;  // what they had together had an order
  if (wants_all_folds()) {
    throw Error({.what = "several ranks train one fold at a time",
                 .expected = fmt::format("--fold 0 to {}", folds - 1),
                 .found = fmt::format("--folds {} alone", folds)});
  }
  std::vector<std::string> given;
  if (!data.empty()) given.emplace_back("--val-data");
  if (every > 0) given.emplace_back("--val-every");
  if (fraction_given() && fraction > 0) given.emplace_back("--val-fraction");
  if (split != "auto") given.emplace_back("--val-split");
  if (folds > 0) given.emplace_back("--folds");
  if (given.size() < 2) return;
  throw Error({.what = "flags exclude one another",
               .expected = "one way to validate",
               .found = fmt::format("{}", fmt::join(given, ", "))});
}

// As it was: the validation part, else a test part with classes.
void ValidationFlags::keep_old_parts(TrainingRequest& request, const DataOptions& options) {
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

TrainingRequest ValidationFlags::request(const std::string& training_data,
                                         const DataOptions& options) const {
  TrainingRequest request{.data = training_data,
                          .validation_data = data,
                          .test_data = test_data,
                          .seed = seed,
                          .validate_on_test = split == "test"};
  if (before_three_splits_) keep_old_parts(request, options);
  using Kind = Division::Kind;
  if (folds > 0) {
    request.division = {.kind = Kind::kFolds,
                        .folds = folds,
                        .fold = static_cast<std::uint32_t>(fold),
                        .seed = seed};
  } else if (every > 0) {
    request.division = {.kind = Kind::kEvery, .every = every};
  } else if (fraction_given()) {
    request.division = {.kind = Kind::kFraction, .fraction = fraction, .seed = seed};
  }
  return request;
}

void ValidationFlags::resolve(FlagValues& values, const TrainingParts& parts) const {
  set_flag_value(values, "val-data", data);
  if (before_three_splits_) {  // their checkpoints know no more
    std::erase_if(values, [](const auto& value) {
      return std::find(kNewFlags.begin(), kNewFlags.end(), value.first) != kNewFlags.end();
    });
    return;
  }
  const bool by_fraction = parts.division && parts.division->kind == Division::Kind::kFraction;
  set_flag_value(values, "val-fraction",
                 by_fraction ? fmt::format("{}", parts.division->fraction) : "0");
  set_flag_value(values, "test-data", test_data);
}

}  // namespace stoker
