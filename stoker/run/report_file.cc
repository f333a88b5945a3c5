#include "stoker/run/report_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/metric_list.h"
#include "stoker/image/png.h"
#include "stoker/report/comparison_page.h"
#include "stoker/report/html_page.h"
#include "stoker/report/run_markdown.h"
#include "stoker/report/run_page.h"
#include "stoker/run/number_table.h"
#include "stoker/run/prediction_file.h"
#include "stoker/run/settings_file.h"
#include "stoker/run/target_table.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kBins = 10;           // of the calibration plot
constexpr std::size_t kMostShown = 100;     // images of a kind, whatever a file says
constexpr std::size_t kMostClasses = 4096;  // of a confusion matrix

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// A JSON file with an object; an empty one where there is no file.
Json read_json(const fs::path& path) {
  if (!is_there(path)) return Json::object();
  Json json = Json::parse(read_text_file(path), nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  throw Error({.what = "cannot read the run's facts",
               .path = path.string(),
               .expected = "a JSON object",
               .found = json.is_discarded() ? "no JSON" : json.type_name()});
}

// Values of files are taken only where they have the right type.
double number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : std::nan("");
}
std::int64_t integer_at(const Json& json, const char* key, std::int64_t otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}
std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>()
                            : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}
Json part_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_object() ? *found : Json::object();
}
Json list_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : Json::array();
}

ReportImage image_of(const Json& json) {
  constexpr int kMostPixels = 4096;  // a side
  const auto side = [&](const char* key) {
    return static_cast<int>(std::clamp<std::int64_t>(integer_at(json, key, 0), 0, kMostPixels));
  };
  return {.type = text_at(json, "type") == "webp" ? "webp" : "png",
          .data = text_at(json, "data"),
          .width = side("width"),
          .height = side("height")};
}

std::vector<ReportPrediction> predictions_of(const Json& list) {
  std::vector<ReportPrediction> shown;
  for (const Json& one : list) {
    if (!one.is_object() || shown.size() == kMostShown) continue;
    shown.push_back({.image = image_of(part_of(one, "picture")),
                     .sample = text_at(one, "sample"),
                     .label = integer_at(one, "label", -1),
                     .first = integer_at(one, "first", -1),
                     .second = integer_at(one, "second", -1),
                     .first_share = number_at(one, "first_share"),
                     .second_share = number_at(one, "second_share"),
                     .loss = number_at(one, "loss")});
  }
  return shown;
}

void read_shown_images(RunReport& run, const fs::path& path) {
  const Json json = read_json(path);
  run.top_losses = predictions_of(list_of(json, "top_losses"));
  run.doubtful = predictions_of(list_of(json, "doubtful"));
  for (const Json& one : list_of(json, "batch")) {
    if (!one.is_object() || run.batch.size() == kMostShown) continue;
    run.batch.push_back({.label = integer_at(one, "label", -1),
                         .before = image_of(part_of(one, "before")),
                         .after = image_of(part_of(one, "after")),
                         .label_text = text_at(one, "text")});
  }
}

// "train_samples" as "train samples"
std::string words_of(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}

void add_facts(RunReport& run, const char* title, const Json& json) {
  NamedValues values;
  for (const auto& [key, value] : json.items()) {
    values.emplace_back(words_of(key), text_at(json, key.c_str()));
  }
  if (!values.empty()) run.facts.emplace_back(title, std::move(values));
}

// Some of its values, those that are there.
Json chosen(const Json& json, std::initializer_list<const char*> keys) {
  Json some = Json::object();
  for (const char* key : keys) {
    if (json.contains(key)) some[key] = json[key];
  }
  return some;
}

FeedFacts feed_of(const Json& json) {
  FeedFacts feed{.store = number_at(json, "store"),
                 .read = number_at(json, "read"),
                 .augment = number_at(json, "augment"),
                 .write = number_at(json, "write"),
                 .blocked = number_at(json, "blocked"),
                 .ring_batches = number_at(json, "ring_batches")};
  for (const Json& value : list_of(json, "ring_fill")) {
    feed.ring_fill.push_back(value.is_number() ? value.get<double>() : std::nan(""));
  }
  return feed;
}

TestFacts test_of(const Json& json) {
  return {.top1 = number_at(json, metric_name::kTop1),
          .loss = number_at(json, metric_name::kLoss),
          .samples = integer_at(json, "samples", 0),
          .epoch = integer_at(json, "epoch", 0),
          .map = number_at(json, metric_name::kMap),
          .r2 = number_at(json, metric_name::kR2)};
}

// The task, and of tasks other than to classify, figures of each class or target.
void read_outputs(RunReport& run, const Json& json) {
  for (const Task task : {Task::kMultilabel, Task::kRegress}) {
    if (text_at(json, "task") == name_of(task)) run.task = task;
  }
  for (const Json& one : list_of(json, "outputs")) {
    if (!one.is_object()) continue;
    if (run.task == Task::kRegress) {
      run.targets.push_back({.mae = number_at(one, "mae"),
                             .rmse = number_at(one, "rmse"),
                             .r2 = number_at(one, "r2")});
    } else {
      run.classes.push_back({.support = integer_at(one, "support", 0),
                             .precision = number_at(one, "precision"),
                             .recall = number_at(one, "recall"),
                             .f1 = number_at(one, "f1"),
                             .average_precision = number_at(one, "average_precision"),
                             .threshold = number_at(one, "threshold")});
    }
  }
  // A file may say anything; a page needs one for each name.
  run.classes.resize(run.task == Task::kMultilabel ? run.class_names.size() : 0);
  run.targets.resize(run.task == Task::kRegress ? run.class_names.size() : 0);
}

void read_facts(RunReport& run, const fs::path& path) {
  const Json json = read_json(path);
  const Json data = part_of(json, "data");
  run.state = text_at(json, "state");
  run.data = text_at(data, "name");
  run.model = text_at(part_of(json, "model"), "architecture");
  run.augmentation = text_at(data, "augmentation");
  for (const Json& name : list_of(json, "classes")) {
    run.class_names.push_back(name.is_string() ? name.get<std::string>() : "?");
  }
  read_outputs(run, json);
  for (const Json& change : list_of(json, "data_changes")) {
    run.warnings.push_back(
        fmt::format("The data was changed at step {}, and the change was accepted: {}.",
                    text_at(change, "step"), text_at(change, "difference")));
  }
  run.feed = feed_of(part_of(json, "feed"));
  run.test = test_of(part_of(json, "test"));
  const double samples = number_at(json, "epoch_samples");
  if (samples > 0) run.epoch_samples = samples;
  add_facts(run, "Data", data);
  add_facts(run, "Test at the end", part_of(json, "test"));
  add_facts(run, "Network", part_of(json, "model"));
  Json course = chosen(json, {"state", "diverged", "started", "ended", "steps", "seed"});
  const Json validated = part_of(json, "validated");
  const double skipped = number_at(validated, "skipped"), used = number_at(validated, "samples");
  if (skipped > 0) {
    course["validated"] =
        fmt::format("{} of {} images", count_text(used), count_text(used + skipped));
  }
  add_facts(run, "Run", course);
  add_facts(run, "Machine", part_of(json, "machine"));
  add_facts(run, "Versions", part_of(json, "versions"));
  Json digests = chosen(json, {"data_order_version", "settings_digest", "first_batch_digest"});
  const auto weights = part_of(json, "weights");  // items() must not outlive it
  for (const auto& [key, value] : weights.items()) {
    digests[key + "_weights_digest"] = value;
  }
  add_facts(run, "Digests (XXH3, 128 bits)", digests);
}

// Bins of equal width, (low, high]; a share that is no number has no place.
void add_to_bins(std::vector<CalibrationBin>& bins, float share, bool right) {
  if (!(share >= 0 && share <= 1)) return;
  const double place = std::ceil(static_cast<double>(share) * static_cast<double>(bins.size())) - 1;
  CalibrationBin& bin = bins[static_cast<std::size_t>(std::max(0.0, place))];
  ++bin.samples;
  bin.confidence += share;
  bin.accuracy += right ? 1 : 0;
}

// Points of the plot: all samples, or evenly chosen ones.
void read_targets(RunReport& run, const fs::path& path) {
  constexpr std::size_t kMostPoints = 10'000;
  const std::size_t outputs = run.class_names.size();
  const TargetTable table = read_target_table(path, outputs);
  run.judged_epoch = table.epoch + 1;
  if (run.task != Task::kRegress) return;
  const std::size_t step = std::max<std::size_t>(1, table.size() * outputs / kMostPoints);
  for (std::size_t i = 0; i < table.size(); i += step) {
    if (table.is_skipped(i)) continue;
    for (std::size_t t = i * outputs; t < (i + 1) * outputs; ++t) {
      run.numbers.truth.push_back(table.target[t]);
      run.numbers.predicted.push_back(table.prediction[t]);
    }
  }
}

void read_judged(RunReport& run, const fs::path& path) {
  const std::size_t classes = run.class_names.size();
  if (classes == 0 || !is_there(path)) return;
  if (run.task != Task::kClassify) {
    read_targets(run, path);
    return;
  }
  const PredictionTable table = read_predictions(path, classes);
  run.judged_epoch = table.epoch + 1;
  run.calibration.resize(kBins);
  if (classes <= kMostClasses) run.confusion.resize(classes * classes);
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table.label[i] < 0) continue;
    const auto truth = static_cast<std::size_t>(table.label[i]);
    const auto taken = static_cast<std::size_t>(table.first[i]);
    add_to_bins(run.calibration, table.first_share[i], truth == taken);
    if (!run.confusion.empty()) ++run.confusion[truth * classes + taken];
  }
  for (CalibrationBin& bin : run.calibration) {
    if (bin.samples == 0) continue;
    bin.confidence /= static_cast<double>(bin.samples);
    bin.accuracy /= static_cast<double>(bin.samples);
  }
}

// Of a run without run.json, from its settings.
void fill_from_settings(RunReport& run) {
  for (const auto& [name, value] : run.settings) {
    if (name == "data" && run.data.empty()) run.data = value;
    if (name == "model" && run.model.empty()) run.model = value;
    if (name == "aa" && run.augmentation.empty() && value != "none") run.augmentation = value;
  }
}

NumberTable table_if_there(const fs::path& path) {
  return is_there(path) ? read_number_table(path) : NumberTable{};
}

void write_markdown(const std::vector<RunReport>& runs, const fs::path& path) {
  const std::string stem = path.stem().string();
  const MarkdownReport report =
      runs.size() == 1 ? run_markdown(runs.front(), stem) : comparison_markdown(runs, stem);
  for (const MarkdownReport::ImageFile& image : report.images) {
    write_png(path.parent_path() / image.file, image.image.view());
  }
  write_whole_file(path, report.text, "report");
}

}  // namespace

RunReport read_run(const fs::path& folder) {
  if (!is_there(folder / "results.csv")) {
    throw Error({.what = "there is no run to report",
                 .path = folder.string(),
                 .expected = "the folder of a run, with results.csv in it",
                 .found = is_there(folder) ? "a folder without it" : "nothing",
                 .hint = "A run has it after its first epoch"});
  }
  RunReport run;
  const fs::path whole = fs::absolute(folder).lexically_normal();
  run.name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  run.folder = folder.string();
  if (is_there(folder / "args.yaml")) run.settings = read_yaml_pairs(folder / "args.yaml");
  run.results = read_number_table(folder / "results.csv");
  run.steps = table_if_there(folder / "steps.csv");
  run.timing = table_if_there(folder / "timing.csv");
  run.ranks = table_if_there(folder / "ranks.csv");
  read_facts(run, folder / "run.json");
  read_judged(run, folder / "predictions.safetensors");
  read_shown_images(run, folder / "pictures.json");
  fill_from_settings(run);
  return run;
}

void write_report(const std::vector<std::string>& folders, const fs::path& path,
                  ReportFormat format) {
  std::vector<RunReport> runs;
  for (const std::string& folder : folders) runs.push_back(read_run(folder));
  if (format == ReportFormat::kMarkdown) {
    write_markdown(runs, path);
    return;
  }
  write_whole_file(path, runs.size() == 1 ? run_page(runs.front()) : comparison_page(runs),
                   "report");
}

}  // namespace stoker
