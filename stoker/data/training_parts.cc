#include "stoker/data/training_parts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/shards/shard_source.h"

namespace stoker {
namespace {

using Names = std::vector<std::string>;

// What is learnt of the samples: one class, several classes, or numbers.
struct Learnt {
  std::string_view kind;  // "class", "label", "number"
  Names names;

  [[nodiscard]] bool nothing() const { return names.empty(); }
};

Learnt learnt_of(const Source& source) {
  if (!source.class_names().empty()) return {"class", source.class_names()};
  if (const FieldInfo* field = find_field(source.fields(), kClassesField)) {
    return {"label", field->values};
  }
  const FieldInfo* field = find_field(source.fields(), kTargetField);
  return {"number", field == nullptr ? Names() : field->values};
}

void check_has_classes(const Source& source, const char* what, const std::string& path) {
  if (!learnt_of(source).nothing()) return;
  const bool shards = dynamic_cast<const ShardSource*>(&source) != nullptr;
  throw Error({.what = fmt::format("the {} data has no classes", what),
               .path = path,
               .expected = shards ? "a class for each sample of the shards"
                                  : "a folder for each class, or a list with a class on every line",
               .found = shards ? "samples without classes" : "images without classes",
               .hint = shards ? "Write the shards again from data with classes."
                              : "Name the folder that holds the class folders, not one of them."});
}

// "\"cat\" as class 0 of 3", where two lists of names begin to differ.
struct Difference {
  std::string expected, found;
};
std::optional<Difference> difference(const Source& train, const Source& other) {
  const Learnt expected = learnt_of(train), found = learnt_of(other);
  const auto [a, b] = std::ranges::mismatch(expected.names, found.names);
  const bool same_kind = expected.kind == found.kind;
  if (same_kind && a == expected.names.end() && b == found.names.end()) return std::nullopt;
  const auto name = [](auto at, const Learnt& learnt) {
    const Names& names = learnt.names;
    return at == names.end() ? fmt::format("only {} {}{}", names.size(), learnt.kind,
                                           learnt.kind == "class" ? "es" : "s")
                             : fmt::format("\"{}\" as {} {} of {}", *at, learnt.kind,
                                           at - names.begin(), names.size());
  };
  if (!same_kind) {
    return Difference{.expected = name(expected.names.begin(), expected),
                      .found = name(found.names.begin(), found)};
  }
  return Difference{.expected = name(a, expected), .found = name(b, found)};
}

void check_same_classes(const Source& train, const Source& other, const char* what,
                        const std::string& path) {
  check_has_classes(other, what, path);
  const auto differs = difference(train, other);
  if (!differs) return;
  throw Error({.what = fmt::format("the {} data has other classes than the training data", what),
               .path = path,
               .expected = differs->expected,
               .found = differs->found,
               .hint = "Classes are the folders' names, in their order"});
}

// Of data that an option names: the part that is meant, or all of data without parts.
std::shared_ptr<const Source> open_named(const std::string& data, Split split, const char* option,
                                         const DataOptions& options) {
  const DataParts parts = find_data_parts(data, options);
  if (parts.has(split)) return open_data(data, split, options);
  if (parts.whole()) return open_data(data, Split::kTrain, options);
  throw OptionError(
      {.what = fmt::format("it is not clear which part `{}` means", option),
       .path = data,
       .expected = fmt::format("data with a {} part, or without parts", name_of(split)),
       .found = fmt::format("train and {}", parts.test ? "test" : "val"),
       .hint = fmt::format("Name the part's own folder{}",
                           split == Split::kValidation && parts.test
                               ? ", or validate on the test part with `val_split` test."
                               : ".")});
}

[[noreturn]] void fail_shards_without_validation(const std::string& data) {
  throw Error({.what = "the shards have no validation part",
               .path = data,
               .expected = "shards in train and val below it",
               .hint = "Name validation data with `val_data`, or pass `val_fraction`: it takes "
                       "whole shards of the training part."});
}

class PartsOpener {
 public:
  PartsOpener(const TrainingRequest& request, const DataOptions& options)
      : request_(request), options_(options), own_(find_data_parts(request.data, options)) {}

  TrainingParts open() {
    parts_.train = open_data(request_.data, Split::kTrain, options_);
    check_has_classes(*parts_.train, "training", request_.data);
    options_.known_classes = learnt_of(*parts_.train).names;
    open_validation();
    open_test();
    return std::move(parts_);
  }

 private:
  void open_validation() {
    const bool folds = request_.division && request_.division->kind == Division::Kind::kFolds;
    if (folds) return divide_training(*request_.division);
    if (!request_.validation_data.empty()) {
      parts_.validation =
          open_named(request_.validation_data, request_.validation_split, "val_data", options_);
      parts_.validation_origin = request_.validation_data;
      check_same_classes(*parts_.train, *parts_.validation, "validation", request_.validation_data);
      return;
    }
    if (request_.validate_on_test) return take_own(Split::kTest);
    if (own_.validation) return take_own(Split::kValidation);
    if (!request_.division && dynamic_cast<const ShardSource*>(parts_.train.get()) != nullptr) {
      fail_shards_without_validation(request_.data);
    }
    divide_training(request_.division.value_or(Division{.kind = Division::Kind::kFraction,
                                                        .fraction = kDefaultValidationFraction,
                                                        .seed = request_.seed}));
  }

  void take_own(Split split) {
    parts_.validation = open_data(request_.data, split, options_);
    parts_.validation_origin =
        fmt::format("{} part", split == Split::kTest ? "test" : "validation");
    check_same_classes(*parts_.train, *parts_.validation, "validation", request_.data);
  }

  void divide_training(const Division& division) {
    auto [train, validation] = divide(parts_.train, division);
    parts_.train = std::move(train);
    parts_.validation = std::move(validation);
    parts_.division = division;
    parts_.validation_origin = fmt::format("{} of the training data", to_text(division));
    if (own_.validation) parts_.notes.emplace_back("the data's own validation part is not used");
  }

  void open_test() {
    if (request_.validate_on_test) return;
    if (!request_.test_data.empty()) {
      parts_.test = open_named(request_.test_data, Split::kTest, "test_data", options_);
      check_same_classes(*parts_.train, *parts_.test, "test", request_.test_data);
      parts_.test_origin = request_.test_data;
      return;
    }
    if (!own_.test) return;
    auto test = open_data(request_.data, Split::kTest, options_);
    if (learnt_of(*test).nothing()) {
      parts_.notes.emplace_back("the test part has no classes: the run ends without a test");
    } else if (const auto differs = difference(*parts_.train, *test)) {
      parts_.notes.push_back(
          fmt::format("the test part has other classes ({}, not {}): the run ends without a test",
                      differs->found, differs->expected));
    } else {
      parts_.test = std::move(test);
      parts_.test_origin = "test part";
    }
  }

  const TrainingRequest& request_;
  DataOptions options_;  // with the classes of the training data, once they are known
  DataParts own_;
  TrainingParts parts_;
};

}  // namespace

TrainingParts open_training_parts(const TrainingRequest& request, const DataOptions& options) {
  return PartsOpener(request, options).open();
}

EvaluationPart open_evaluation_part(const std::string& data, std::optional<Split> split,
                                    const std::optional<Division>& division,
                                    const DataOptions& options) {
  const DataParts parts = find_data_parts(data, options);
  const Split wanted = split.value_or(evaluation_split(parts));
  const bool folds = division && division->kind == Division::Kind::kFolds;
  if (split && wanted != Split::kTest && division && (folds || !parts.validation)) {
    auto [train, validation] = divide(open_data(data, Split::kTrain, options), *division);
    return {.source = wanted == Split::kTrain ? std::move(train) : std::move(validation),
            .name = fmt::format("{} ({})", name_of(wanted), to_text(*division))};
  }
  return {.source = open_data(data, wanted, options),
          .name = !split && parts.whole() ? "all" : name_of(wanted)};
}

}  // namespace stoker
