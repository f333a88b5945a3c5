#include "stoker/cli/model_flags.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/option_text.h"
#include "stoker/cli/screen_text.h"
#include "stoker/cli/setting_flags.h"
#include "stoker/core/error.h"
#include "stoker/data/data_settings.h"
#include "stoker/data/sources/image_table.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/run/model_data.h"
#include "stoker/run/ready_model.h"
#include "stoker/run/run_input.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

void add_views(EvaluateOptions& options, const ModelFlags& flags) {
  if (flags.views == 1) return;
  Policy policy = Policy::parse(flags.view_policy);
  const std::string framing = options.policy.text();
  if (policy.framing() == nullptr && !framing.empty()) {
    policy = Policy::parse(framing + "," + flags.view_policy);
  }
  options.more_views.assign(flags.views - 1, policy);
}

ModelData open_data_of(const ModelFlags& flags, const std::string& weights, const ModelCard& card) {
  ModelData opened = open_model_data(
      card, {.data = flags.data,
             .weights = weights,
             .split = flags.split.empty() ? std::nullopt : std::optional(parse_split(flags.split)),
             .options = {.images = flags.images,
                         .shards = flags.shards,
                         .table = with_run_columns(flags.table, weights),
                         .needs_labels = flags.needs_labels}});
  if (!opened.note.empty()) show(stderr, opened.note + "\n");
  return opened;
}

// Data that says what the model predicts must say it of the same classes or targets.
void check_outputs(const ModelCard& card, const Source& source, bool needs_labels,
                   const std::string& weights) {
  const Task task = task_of(source);
  if (task != card.task && needs_labels) {
    throw Error({.what = "the data does not fit the model's task",
                 .path = weights,
                 .expected = fmt::format("data for {}", name_of(card.task)),
                 .found = fmt::format("data for {}", name_of(task)),
                 .hint = "Name a table and its columns: --labels A,B,C or --target COLUMN."});
  }
  if (task != card.task || (!needs_labels && output_names(source).empty())) return;
  check_class_names(card.class_names, output_names(source), weights, task);
}

}  // namespace

void ModelFlags::add_data_to(const Command& command) {
  command.add_option("data,--data", data, data_help()).required();
  command
      .add_option("--weights", weights,
                  "a run's folder, a folder with timm's config.json, a model file, or others' "
                  "weights, with --model")
      .required();
  published.add_to(command);
  command
      .add_option("--split", split,
                  split.empty() ? "part of the data; not given: test, else val, else all. train "
                                  "and val of data that a run divided are that run's"
                                : "part of the data")
      .one_of(split_names());
  command
      .add_option("-b,--batch-size", evaluate.batch_size,
                  "samples a batch; 0: 256 small images or 32 photographs")
      .between(0, 1 << 24);
  add_settings(command, file_settings_of(images));
  add_settings(command, settings_of(shards));
  add_settings(command, settings_of(table));
  command.add_flag("--isolate", evaluate.isolate,
                   "decode in locked-down processes, for files that are not trusted");
  add_settings(command, settings_of(compute));
}

void ModelFlags::add_to(const Command& command) {
  add_data_to(command);
  command
      .add_option("--tta", views,
                  "test-time augmentation: average over N versions of each image, itself and "
                  "N-1 made by --tta-aa")
      .between(1, 100);
  command.add_option(
      "--tta-aa", view_policy,
      "what makes the other versions; where it gives no size, after the usual framing");
  command
      .add_option("--on-error", on_error,
                  "unreadable images: report them and end with exit code 1; skip: report them, "
                  "exit code 0; stop at the first")
      .one_of({"report", "skip", "stop"});
  add_settings(command, settings_of(engine));
}

bool is_for_doctor(const std::string& data, const Source& source) {
  std::error_code ignored;
  const bool holds_files = std::filesystem::is_directory(data, ignored) || is_image_table(data);
  return holds_files && source.layout() == nullptr;
}

void UnreadableSamples::add(std::span<const SampleFault> faults) {
  faults_.insert(faults_.end(), faults.begin(), faults.end());
}

void UnreadableSamples::end(const ModelFlags& flags, const Source& source,
                            std::uint64_t samples) const {
  if (faults_.empty()) return;
  constexpr std::size_t kMostNamed = 5;
  std::string text =
      fmt::format("stoker: {} of {} images could not be read:\n", faults_.size(), samples);
  for (const SampleFault& fault : std::span(faults_).first(std::min(kMostNamed, faults_.size()))) {
    text += fmt::format("  {}: {}\n", fault.name, with_flags(fault.reason));
  }
  if (faults_.size() > kMostNamed) {
    text += fmt::format("  and {} more{}\n", faults_.size() - kMostNamed,
                        is_for_doctor(flags.data, source)
                            ? fmt::format("; `stoker doctor {}` lists all", flags.data)
                            : "");
  }
  show(stderr, text);
  if (flags.on_error != "skip") throw ExitRequest{1};
}

ModelAndData open_model_and_data(const ModelFlags& flags) {
  const std::string weights = weights_path(flags.weights);
  LoadedModel loaded = flags.published.load(weights);
  ModelData data = open_data_of(flags, weights, loaded.card);
  ModelAndData opened{
      .ready = make_ready(std::move(loaded), flags.compute, flags.evaluate, flags.engine),
      .source = std::move(data.part.source),
      .part = std::move(data.part.name)};
  EvaluateOptions& options = opened.ready.options;
  options.policy = std::move(data.policy);
  check_outputs(opened.card(), *opened.source, flags.needs_labels, weights);
  add_views(options, flags);
  if (flags.on_error == "stop") options.on_error = OnError::kStop;
  return opened;
}

}  // namespace stoker
