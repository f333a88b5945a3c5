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

PredictionRows::PredictionRows(RowOutputs outputs, const RowOptions& options)
    : outputs_(std::move(outputs)), options_(options) {
  if (outputs_.thresholds.empty()) outputs_.thresholds.assign(outputs_.names.size(), 0.5);
  options_.top_k = std::min(options.top_k, outputs_.names.size());
  if (outputs_.task == Task::kRegress && (options.top_k > 0 || !options.positive.empty())) {
    throw OptionError({.what = "`topk` and `positive` are for classes",
                       .found = "a model that predicts numbers"});
  }
  const bool submission = options.format == RowFormat::kSubmission;
  if (submission && options.top_k > 0) {
    throw OptionError({.what = "a submission has one label per image, so `topk` cannot be used",
                       .hint = "Remove `topk`, or use `format` csv."});
  }
  if (!submission && !options.positive.empty()) {
    throw OptionError(
        {.what = "`positive` belongs to submissions", .hint = "Add `format` submission."});
  }
  if (!options.positive.empty()) positive_ = class_of(options.positive, outputs_.names);
}

std::string PredictionRows::header() const {
  if (options_.format == RowFormat::kJsonLines) return "";
  if (options_.format == RowFormat::kSubmission) return "id,label\n";
  std::string line = outputs_.task == Task::kClassify     ? "sample,class,probability"
                     : outputs_.task == Task::kMultilabel ? "sample,classes"
                                                          : "sample";
  const std::size_t first = outputs_.task == Task::kClassify ? 1 : 0;
  for (std::size_t i = first; i < options_.top_k; ++i) {
    line += fmt::format(",class{0},probability{0}", i + 1);
  }
  if (options_.top_k == 0) {
    for (const std::string& name : outputs_.names) line += "," + csv_field(name);
  }
  return line + ",error\n";
}

std::vector<std::string> PredictionRows::shown_classes(const Prediction& prediction) const {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < outputs_.names.size(); ++c) {
    if (prediction.probabilities[c] >= outputs_.thresholds[c]) names.push_back(outputs_.names[c]);
  }
  return names;
}

// After the sample: what the task says first, and with `topk` the most probable classes.
std::string PredictionRows::first_columns(const Prediction& prediction) const {
  std::string text;
  std::size_t classes = options_.top_k;
  if (outputs_.task == Task::kMultilabel) {
    text = "," + csv_field(fmt::format("{}", fmt::join(shown_classes(prediction), ";")));
  } else if (outputs_.task == Task::kClassify) {
    classes = std::max<std::size_t>(1, options_.top_k);
  }
  for (std::size_t i = 0; i < classes; ++i) {
    const std::size_t c = prediction.ranked[i];
    text += fmt::format(",{},{:.6f}", csv_field(outputs_.names[c]), prediction.probabilities[c]);
  }
  return text;
}

std::string PredictionRows::row(const Prediction& prediction) {
  if (options_.format == RowFormat::kJsonLines) return json_row(prediction);
  if (options_.format == RowFormat::kSubmission) {
    return submission_row(prediction.sample, submission_label(prediction));
  }
  std::string line = csv_field(prediction.sample) + first_columns(prediction);
  if (options_.top_k == 0) {
    for (const float p : prediction.probabilities) {
      line += outputs_.task == Task::kRegress ? fmt::format(",{}", p) : fmt::format(",{:.6f}", p);
    }
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
  std::size_t cells = outputs_.names.size();  // behind the sample, before the error
  if (options_.top_k > 0) cells = 2 * options_.top_k;
  if (outputs_.task == Task::kClassify && options_.top_k == 0) cells += 2;
  if (outputs_.task == Task::kMultilabel) cells += 1;
  return fmt::format("{}{},{}\n", csv_field(sample), std::string(cells, ','), csv_field(reason));
}

std::string PredictionRows::json_row(const Prediction& prediction) const {
  nlohmann::ordered_json json = {{"sample", prediction.sample}};
  if (outputs_.task == Task::kRegress) {
    for (std::size_t i = 0; i < outputs_.names.size(); ++i) {
      json["values"][outputs_.names[i]] = prediction.probabilities[i];
    }
    return json_text(json) + "\n";
  }
  if (outputs_.task == Task::kMultilabel) {
    json["classes"] = shown_classes(prediction);
  } else {
    json["class"] = outputs_.names[prediction.ranked.front()];
    json["probability"] = prediction.best();
  }
  for (std::size_t i = 0; i < (options_.top_k == 0 ? outputs_.names.size() : options_.top_k); ++i) {
    const std::size_t c = options_.top_k == 0 ? i : prediction.ranked[i];
    json["probabilities"][outputs_.names[c]] = prediction.probabilities[c];
  }
  return json_text(json) + "\n";
}

std::string PredictionRows::submission_label(const Prediction& prediction) const {
  if (outputs_.task == Task::kRegress) {
    return fmt::format("{}", fmt::join(prediction.probabilities, " "));
  }
  if (options_.positive.empty() && outputs_.task == Task::kMultilabel) {
    return csv_field(fmt::format("{}", fmt::join(shown_classes(prediction), " ")));
  }
  if (options_.positive.empty()) return csv_field(outputs_.names[prediction.ranked.front()]);
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
