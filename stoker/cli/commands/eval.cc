// `stoker eval`: how well a trained model does on labelled data.
#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/long_work.h"
#include "stoker/cli/model_flags.h"
#include "stoker/cli/option_text.h"
#include "stoker/cli/output_files.h"
#include "stoker/cli/top_losses.h"
#include "stoker/core/error.h"
#include "stoker/core/metric_list.h"
#include "stoker/core/plain_text.h"
#include "stoker/image/png.h"
#include "stoker/report/confusion_matrix.h"
#include "stoker/run/engine_trials.h"
#include "stoker/run/json_text.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

struct EvalFlags {
  ModelFlags model;
  std::string image, top_losses;
  std::size_t top_losses_count = 16;
  bool json = false;
  OutputFiles files;
};

using Json = nlohmann::ordered_json;

Json class_list(const std::vector<std::string>& names, const MetricsResult& result) {
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ClassMetrics& c = result.classes[i];
    Json one = {{"name", names[i]},
                {"support", c.support},
                {"precision", json_number(c.precision)},
                {"recall", json_number(c.recall)},
                {"f1", json_number(c.f1)}};
    if (result.task == Task::kMultilabel) {
      one["average_precision"] = json_number(c.average_precision);
      one["threshold"] = json_number(c.threshold);
    }
    list.push_back(std::move(one));
  }
  return list;
}

Json target_list(const std::vector<std::string>& names, const MetricsResult& result) {
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const TargetMetrics& t = result.targets[i];
    list.push_back({{"name", names[i]},
                    {"mae", json_number(t.mae)},
                    {"rmse", json_number(t.rmse)},
                    {"r2", json_number(t.r2)}});
  }
  return list;
}

void print_json(const ModelAndData& opened, const MetricsResult& result) {
  const auto& names = opened.card().class_names;
  nlohmann::ordered_json json;
  const auto add = [&](MetricOutput part) {
    for (const auto& [name, value] : metric_values(result, opened.options().top_k, part)) {
      json[name] = json_number(value);
    }
  };
  add(&MetricPlaces::eval_head);
  json["samples"] = result.samples;
  json["skipped"] = result.skipped;  // could not be read
  json["split"] = opened.part;
  add(&MetricPlaces::eval);
  json["model"] = opened.card().architecture;
  json["engine"] = opened.ready.engine_text();
  switch (result.task) {
    case Task::kClassify:
      json["classes"] = class_list(names, result);
      json["confusion"] = result.confusion;
      break;
    case Task::kMultilabel:
      json["classes"] = class_list(names, result);
      break;
    case Task::kRegress:
      json["targets"] = target_list(names, result);
      break;
  }
  fmt::print("{}\n", json_text(json));
}

std::string samples_text(const MetricsResult& result) {
  if (result.skipped == 0) return fmt::format("{}", result.samples);
  return fmt::format("{} of {}: {} could not be read", result.samples,
                     result.samples + result.skipped, result.skipped);
}

void print_classes(const std::vector<std::string>& names, const MetricsResult& result) {
  fmt::print("{:>9}  {:>6}  {:>6}  {:>8}  class\n", "precision", "recall", "F1", "samples");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ClassMetrics& c = result.classes[i];
    fmt::print("{:9.4f}  {:6.4f}  {:6.4f}  {:8}  {}\n", c.precision, c.recall, c.f1, c.support,
               plain_text(names[i]));
  }
}

void print_labels(const std::vector<std::string>& names, const MetricsResult& result) {
  fmt::print("{:>6}  {:>9}  {:>9}  {:>6}  {:>6}  {:>8}  class\n", "AP", "threshold", "precision",
             "recall", "F1", "samples");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ClassMetrics& c = result.classes[i];
    fmt::print("{:6.4f}  {:9.4f}  {:9.4f}  {:6.4f}  {:6.4f}  {:8}  {}\n", c.average_precision,
               c.threshold, c.precision, c.recall, c.f1, c.support, plain_text(names[i]));
  }
}

void print_targets(const std::vector<std::string>& names, const MetricsResult& result) {
  fmt::print("{:>10}  {:>10}  {:>7}  target\n", "MAE", "RMSE", "R²");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const TargetMetrics& t = result.targets[i];
    fmt::print("{:10.5g}  {:10.5g}  {:7.4f}  {}\n", t.mae, t.rmse, t.r2, plain_text(names[i]));
  }
}

// These images show one class of each sample.
void refuse_class_images(const EvalFlags& flags, Task task) {
  if (task == Task::kClassify || (flags.image.empty() && flags.top_losses.empty())) return;
  throw OptionError(
      {.what = fmt::format("{} is for classifiers",
                           flags.image.empty() ? "--top-losses" : "--confusion-matrix"),
       .found = fmt::format("a model for {}", name_of(task))});
}

void print_text(const ModelAndData& opened, const MetricsResult& result) {
  const ModelCard& card = opened.card();
  fmt::print("model      {}, {}\n", card.architecture, opened.ready.device);
  fmt::print("engine     {}\n", opened.ready.engine_text());
  fmt::print("data       {}\n", opened.part);
  fmt::print("samples    {}\n", samples_text(result));
  fmt::print("{}\n", metric_lines(result, opened.options().top_k));
  switch (result.task) {
    case Task::kClassify:
      return print_classes(card.class_names, result);
    case Task::kMultilabel:
      return print_labels(card.class_names, result);
    case Task::kRegress:
      return print_targets(card.class_names, result);
  }
}

void print_tried(const TriedEngines& tried, const std::string& precision) {
  fmt::print(stderr, "{:<12}  {:>8}  {:>12}  {:>10}  {}\n", "engine", "images/s", "same answers",
             "difference", "precision");
  for (const EngineFigure& figure : tried.trial.figures) {
    if (figure.precision != precision) continue;
    fmt::print(stderr, "{:<12}  {:8.1f}  {:10.2f} %  {:10.2g}  {}\n", figure.engine,
               figure.images_per_second, 100 * figure.same, figure.largest_difference,
               figure.precision);
  }
  for (const RefusedEngine& one : tried.refused) {
    fmt::print(stderr, "{:<12}  not tried: {}\n", one.engine, with_flags(one.reason));
  }
}

// Tries all engines, and keeps the figures in the model file, by which "auto" chooses.
void choose_engine(const EvalFlags& flags, ModelAndData& opened) {
  const EngineSettings& wanted = flags.model.engine;
  if (wanted.engine != "auto") return;
  const std::string precision = wanted_precision(wanted);
  ReadyModel& ready = opened.ready;
  const TriedEngines tried = try_engines(ready, opened.source, precision);
  print_tried(tried, precision);
  ready.loaded.card.engines = tried.trial;
  ready.options.engine = make_engine(*ready.loaded.model, opened.card(), wanted, ready.threads,
                                     ready.options.batch_size);
  try {
    note_in_model(weights_path(flags.model.weights), tried.trial);
  } catch (const Error& error) {
    fmt::print(stderr, "stoker: the figures are not kept: {}\n", with_flags(error.what()));
  }
}

void run(const EvalFlags& flags) {
  flags.files.check({flags.image, flags.top_losses});
  ModelAndData opened = open_model_and_data(flags.model);
  refuse_class_images(flags, opened.card().task);
  choose_engine(flags, opened);
  LongWork work("evaluating", opened.source->size(), "there are no figures");
  std::uint64_t done = 0;
  UnreadableSamples unreadable;
  TopLosses worst(flags.top_losses_count);
  const MetricsResult result =
      evaluate(opened.model(), opened.source, opened.options(), [&](const Predictions& batch) {
        if (opened.options().task == Task::kClassify) worst.add(batch);
        unreadable.add(batch.skipped);
        work.update(done += batch.indices.size() + batch.skipped.size());
      });
  work.clear();
  if (result.samples == 0 && result.skipped > 0) {
    throw Error({.what = "none of the images could be read",
                 .path = flags.model.data,
                 .found = unreadable.list().front().reason,
                 .hint = is_for_doctor(flags.model.data, *opened.source)
                             ? fmt::format("`stoker doctor {}` lists them all.", flags.model.data)
                             : ""});
  }
  if (!flags.top_losses.empty()) worst.write(flags.top_losses, opened);
  if (!flags.image.empty()) {
    const std::string title = fmt::format("top-1 {:.2f} %", 100 * result.top1);
    write_png(
        flags.image,
        confusion_matrix(result.confusion, opened.card().class_names, {.title = title}).view());
  }
  if (flags.json) {
    print_json(opened, result);
  } else {
    print_text(opened, result);
  }
  unreadable.end(flags.model, *opened.source, done);
}

}  // namespace

void add_eval_command(const Command& parent) {
  const Command command = parent.add_command("eval", "Evaluate a model on labelled data");
  auto flags = std::make_shared<EvalFlags>();
  flags->model.add_to(command);
  command.add_option("--topk", flags->model.evaluate.top_k, "k of the top-k accuracy")
      .between(1, 1 << 20);
  command.add_option("--confusion-matrix", flags->image, "write it as a PNG file");
  command.add_option("--top-losses", flags->top_losses,
                     "write the images that the model is most wrong about as a PNG file, with "
                     "where it looked (Grad-CAM)");
  command.add_option("--top-losses-count", flags->top_losses_count, "how many of them")
      .between(1, 1000);
  flags->files.add_to(command);
  command.add_flag("--json", flags->json, "print one JSON object; shares are in [0, 1]");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
