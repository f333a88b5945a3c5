/// \file
/// The three parts of a training run: what it learns from, what it validates on after each epoch,
/// and what it is tested on once, at its end. Training and validation never touch the test part
/// unless the request says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/data/catalog.h"
#include "stoker/data/division.h"

namespace stoker {

/// Of training data without a validation part.
inline constexpr double kDefaultValidationFraction = 0.1;

/// What the data of a run shall be.
struct TrainingRequest {
  std::string data;                                  ///< as for open_data()
  std::string validation_data = {}, test_data = {};  ///< likewise; empty: parts of `data`
  Split validation_split = Split::kValidation;       ///< which part of validation_data
  /// How to divide training data that has no validation part; folds are made of any training data.
  /// Nothing: by kDefaultValidationFraction and the seed, but shards are not divided unasked.
  std::optional<Division> division = {};
  std::uint64_t seed = 0;
  bool validate_on_test = false;  ///< and there is no test at the end
};

/// The data of a run, opened and divided.
struct TrainingParts {
  std::shared_ptr<const Source> train, validation;
  std::shared_ptr<const Source> test =
      {};                                 ///< null: there is none with the classes of the training
  std::optional<Division> division = {};  ///< by which train and validation were made
  /// Where the samples come from, for the run's log: "val-fraction 0.1, split-seed 0 of the
  /// training part", "validation part", a path.
  std::string validation_origin = {};
  std::string test_origin = {};         ///< empty where there is no test
  std::vector<std::string> notes = {};  ///< what a user would not expect
};

/// Throws Error where a part is missing, training or validation data has no classes, other classes
/// than the training data (of a test part of `data` that is a note), and where shards have no
/// validation part and none is asked for.
[[nodiscard]] TrainingParts open_training_parts(const TrainingRequest& request,
                                                const DataOptions& options = {});

/// The part of data that a model is evaluated on. Training and validation parts of data without a
/// validation part are made by `division`, if there is one.
struct EvaluationPart {
  std::shared_ptr<const Source> source;
  std::string name;  ///< "test", "val (val-fraction 0.1, split-seed 0)", "all"
};
/// Nothing: evaluation_split().
[[nodiscard]] EvaluationPart open_evaluation_part(const std::string& data,
                                                  std::optional<Split> split,
                                                  const std::optional<Division>& division,
                                                  const DataOptions& options = {});

}  // namespace stoker
