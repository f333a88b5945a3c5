#include "stoker/run/prediction_rows.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

std::vector<std::size_t> rank(std::span<const float> probabilities) {
  std::vector<std::size_t> ranked(probabilities.size());
  std::iota(ranked.begin(), ranked.end(), std::size_t{0});
  std::ranges::stable_sort(ranked,
                           [&](auto a, auto b) { return probabilities[a] > probabilities[b]; });
  return ranked;
}

std::size_t class_of(const std::string& name, const std::vector<std::string>& class_names) {
  const auto found = std::ranges::find(class_names, name);
  if (found != class_names.end()) {
    return static_cast<std::size_t>(found - class_names.begin());
  }
  throw OptionError({.what = "unknown class in `positive`",
                     .expected = fmt::format("one of {}", fmt::join(class_names, ", ")),
                     .found = fmt::format("\"{}\"", name)});
}

std::string id_of(const std::string& sample, SubmissionId kind) {
  const std::filesystem::path path(sample);
  switch (kind) {
    case SubmissionId::kStem:
      return path.stem().string();
    case SubmissionId::kName:
      return path.filename().string();
    case SubmissionId::kPath:
      break;
  }
  return sample;
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

Prediction::Prediction(std::string sample_name, std::span<const float> class_probabilities)
    : sample(std::move(sample_name)),
      ranked(rank(class_probabilities)),
      probabilities(class_probabilities) {}

PredictionRows::PredictionRows(const std::vector<std::string>& class_names,
                               const RowOptions& options)
    : class_names_(class_names), options_(options) {
  options_.top_k = std::min(options.top_k, class_names.size());
  const bool submission = options.format == RowFormat::kSubmission;
  if (submission && options.top_k > 0) {
    throw OptionError({.what = "a submission has one label per image, so `topk` cannot be used",
                       .hint = "Remove `topk`, or use `format` csv."});
  }
  if (!submission && !options.positive.empty()) {
    throw OptionError(
        {.what = "`positive` belongs to submissions", .hint = "Add `format` submission."});
  }
  if (!options.positive.empty()) positive_ = class_of(options.positive, class_names);
}

std::string PredictionRows::header() const {
  if (options_.format == RowFormat::kJsonLines) return "";
  if (options_.format == RowFormat::kSubmission) return "id,label\n";
  std::string line = "sample,class,probability";
  for (std::size_t i = 1; i < options_.top_k; ++i) {
    line += fmt::format(",class{0},probability{0}", i + 1);
  }
  if (options_.top_k == 0) {
    for (const std::string& name : class_names_) line += "," + csv_field(name);
  }
  return line + ",error\n";
}

std::string PredictionRows::row(const Prediction& prediction) {
  if (options_.format == RowFormat::kJsonLines) return json_row(prediction);
  if (options_.format == RowFormat::kSubmission) {
    return submission_row(prediction.sample, submission_label(prediction));
  }
  std::string line = csv_field(prediction.sample);
  for (std::size_t i = 0; i < std::max<std::size_t>(1, options_.top_k); ++i) {
    const std::size_t c = prediction.ranked[i];
    line += fmt::format(",{},{:.6f}", csv_field(class_names_[c]), prediction.probabilities[c]);
  }
  if (options_.top_k == 0) {
    for (const float p : prediction.probabilities) line += fmt::format(",{:.6f}", p);
  }
  return line + ",\n";
}

std::string PredictionRows::error_row(const std::string& sample, const std::string& reason) {
  switch (options_.format) {
    case RowFormat::kJsonLines:
      return json_text({{"sample", sample}, {"error", reason}}) + "\n";
    case RowFormat::kSubmission:
      return submission_row(sample, "");
    case RowFormat::kCsv:
      break;
  }
  const std::size_t more =
      options_.top_k == 0 ? class_names_.size() : 2 * (options_.top_k - 1);  // after the first two
  return fmt::format("{}{},{}\n", csv_field(sample), std::string(2 + more, ','), csv_field(reason));
}

std::string PredictionRows::json_row(const Prediction& prediction) const {
  nlohmann::ordered_json json = {{"sample", prediction.sample},
                                 {"class", class_names_[prediction.ranked.front()]},
                                 {"probability", prediction.best()}};
  for (std::size_t i = 0; i < (options_.top_k == 0 ? class_names_.size() : options_.top_k); ++i) {
    const std::size_t c = options_.top_k == 0 ? i : prediction.ranked[i];
    json["probabilities"][class_names_[c]] = prediction.probabilities[c];
  }
  return json_text(json) + "\n";
}

std::string PredictionRows::submission_label(const Prediction& prediction) const {
  if (options_.positive.empty()) return csv_field(class_names_[prediction.ranked.front()]);
  return fmt::format("{:.6f}", prediction.probabilities[positive_]);
}

std::string PredictionRows::submission_row(const std::string& sample, const std::string& label) {
  std::string id = id_of(sample, options_.id);
  if (!ids_.insert(id).second) {
    throw Error({.what = "two images would have the same id in the submission",
                 .path = sample,
                 .found = fmt::format("\"{}\" again", id),
                 .hint = "Use `id` name or `id` path."});
  }
  return fmt::format("{},{}\n", csv_field(id), label);
}

}  // namespace stoker
