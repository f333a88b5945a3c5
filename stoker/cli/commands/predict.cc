// `stoker predict`: the probabilities of every class for each sample, as CSV, JSON lines or a
// competition's submission, and how long it took.
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/long_work.h"
#include "stoker/cli/model_flags.h"
#include "stoker/cli/output_files.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/image/png.h"
#include "stoker/report/image_grid.h"
#include "stoker/run/json_text.h"
#include "stoker/run/prediction_filter.h"
#include "stoker/run/prediction_rows.h"

namespace stoker {
namespace {

struct PredictFlags {
  ModelFlags model;
  std::string out = "-";
  std::string format = "csv", id = "stem";
  RowOptions rows;  // without format and id
  std::string where;
  std::string grid;
  bool json = false;
  OutputFiles files;
};

RowOptions row_options(const PredictFlags& flags) {
  const std::map<std::string, RowFormat> formats = {{"csv", RowFormat::kCsv},
                                                    {"jsonl", RowFormat::kJsonLines},
                                                    {"submission", RowFormat::kSubmission}};
  const std::map<std::string, SubmissionId> ids = {
      {"stem", SubmissionId::kStem}, {"name", SubmissionId::kName}, {"path", SubmissionId::kPath}};
  RowOptions options = flags.rows;
  options.format = formats.at(flags.format);
  options.id = ids.at(flags.id);
  return options;
}

// The first images that the user wants to see, as the network sees them. They are read again when
// the file is written, so that the time of prediction does not count it.
class Grid {
 public:
  explicit Grid(const ModelAndData& opened) : opened_(opened) {}

  // `label` is -1 where the class is not known.
  void add(std::uint64_t index, std::int64_t label, const Prediction& prediction) {
    constexpr std::size_t kMost = 64;
    if (entries_.size() == kMost) return;
    entries_.push_back({.index = index,
                        .label = label,
                        .chosen = prediction.ranked.front(),
                        .probability = prediction.best()});
  }
  void write(const std::string& path, const std::string& title) const {
    std::vector<GridCell> cells;
    for (const Entry& entry : entries_) cells.push_back(cell_of(entry));
    write_png(path, image_grid(cells, {.title = title}).view());
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::uint64_t index = 0;
    std::int64_t label = -1;
    std::size_t chosen = 0;
    float probability = 0;
  };

  [[nodiscard]] GridCell cell_of(const Entry& entry) const {
    SampleBuffer buffer;
    auto sample = opened_.source->read_framed(
        entry.index, {.framing = opened_.options().policy.framing(), .key = {}}, buffer);
    const std::vector<std::string>& names = opened_.card().class_names;
    GridCell cell{narrowed(sample.value().image)};
    if (entry.label < 0) {
      cell.label = fmt::format("{} {:.0f} %", names[entry.chosen], 100 * entry.probability);
      return cell;
    }
    cell.label = names[static_cast<std::size_t>(entry.label)];
    cell.prediction = {.name = names[entry.chosen],
                       .probability = entry.probability,
                       .right = entry.chosen == static_cast<std::size_t>(entry.label)};
    return cell;
  }

  const ModelAndData& opened_;
  std::vector<Entry> entries_;
};

using WriteText = std::function<void(const std::string&)>;

struct Outcome {
  std::uint64_t images = 0, written = 0;  // predictions may be fewer: --where, unreadable images
  UnreadableSamples unreadable;
  // From the first image that is read to the last probability; opening model and data not counted.
  double seconds = 0;

  [[nodiscard]] double images_per_second() const {
    return seconds > 0 ? static_cast<double>(images) / seconds : 0;
  }
};

// Rows of a batch in the order of the samples, those that could not be read among them.
void for_each_in_order(const Predictions& batch, const std::function<void(std::size_t)>& predicted,
                       const std::function<void(const SampleFault&)>& skipped) {
  auto fault = batch.skipped.begin();
  for (std::size_t i = 0; i < batch.indices.size(); ++i) {
    for (; fault != batch.skipped.end() && fault->index < batch.indices[i]; ++fault) {
      skipped(*fault);
    }
    predicted(i);
  }
  for (; fault != batch.skipped.end(); ++fault) skipped(*fault);
}

// A filter and a grid speak of the one class of an image.
void refuse_class_flags(const PredictFlags& flags, Task task) {
  if (task == Task::kClassify || (flags.where.empty() && flags.grid.empty())) return;
  throw OptionError(
      {.what = fmt::format("{} is for classifiers", flags.where.empty() ? "--grid" : "--where"),
       .found = fmt::format("a model for {}", name_of(task))});
}

Outcome write_rows(const ModelAndData& opened, const PredictFlags& flags, const WriteText& write) {
  const std::vector<std::string>& names = opened.card().class_names;
  const ModelCard& card = opened.card();
  PredictionRows writer({names, card.task, card.thresholds}, row_options(flags));
  refuse_class_flags(flags, card.task);
  const PredictionFilter filter(flags.where, names);
  Grid grid(opened);
  LongWork work("predicting", opened.source->size(),
                flags.out == "-" ? "the rows so far are complete" : "no file was written");
  Outcome outcome;
  write(writer.header());
  const auto begin = std::chrono::steady_clock::now();
  predict(opened.model(), opened.source, opened.options(), [&](const Predictions& batch) {
    std::string rows;
    const auto classes = static_cast<std::size_t>(batch.classes);
    const auto add_row = [&](std::size_t i) {
      const Prediction prediction(opened.source->sample_name(batch.indices[i]),
                                  batch.probabilities.subspan(i * classes, classes));
      if (!filter.lets_through(names[prediction.ranked.front()], prediction.best())) return;
      rows += writer.row(prediction);
      ++outcome.written;
      if (!flags.grid.empty()) grid.add(batch.indices[i], batch.labels[i], prediction);
    };
    for_each_in_order(batch, add_row, [&](const SampleFault& fault) {
      if (flags.where.empty()) rows += writer.error_row(fault.name, fault.reason);
    });
    write(rows);
    outcome.unreadable.add(batch.skipped);
    work.update(outcome.images += batch.indices.size() + batch.skipped.size());
  });
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  work.clear();
  if (!grid.empty()) grid.write(flags.grid, fmt::format("{} {}", flags.model.data, flags.where));
  return outcome;
}

Outcome write_to_screen(const ModelAndData& opened, const PredictFlags& flags) {
  // A program gets names as they are; a terminal would obey what is in them.
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  Outcome outcome = write_rows(opened, flags, [is_terminal](const std::string& rows) {
    const std::string text = is_terminal ? plain_lines(rows) : rows;
    std::fwrite(text.data(), 1, text.size(), stdout);
  });
  if (std::fflush(stdout) != 0) {
    throw Error({.what = "cannot write the output", .found = std::strerror(errno)});
  }
  return outcome;
}

Outcome write_to_file(const ModelAndData& opened, const PredictFlags& flags) {
  AtomicFile file(flags.out, "predictions");
  Outcome outcome = write_rows(
      opened, flags, [&](const std::string& rows) { file.write(std::as_bytes(std::span(rows))); });
  file.commit();
  return outcome;
}

void print_outcome(const ModelAndData& opened, const PredictFlags& flags, const Outcome& outcome) {
  if (flags.json) {
    const nlohmann::ordered_json json = {{"out", flags.out},
                                         {"predictions", outcome.written},
                                         {"split", opened.part},
                                         {"images", outcome.images},
                                         {"unreadable", outcome.unreadable.list().size()},
                                         {"seconds", outcome.seconds},
                                         {"images_per_second", outcome.images_per_second()},
                                         {"model", opened.card().architecture},
                                         {"device", opened.ready.device}};
    fmt::print("{}\n", json_text(json));
    return;
  }
  // Rows on the screen must stay a table that another program can read.
  const bool on_screen = flags.out == "-";
  fmt::print(on_screen ? stderr : stdout,
             "{}{} predictions, {:.2f} s of prediction ({:.1f} images/s), data: {}\n",
             on_screen ? "" : flags.out + ": ", outcome.written, outcome.seconds,
             outcome.images_per_second(), opened.part);
}

void run(const PredictFlags& flags) {
  if (flags.json && flags.out == "-") {
    throw OptionError({.what = "--json prints a summary where the rows would be",
                       .hint = "Name a file for the rows: --out FILE."});
  }
  flags.files.check({flags.out, flags.grid});
  const ModelAndData opened = open_model_and_data(flags.model);
  const Outcome outcome =
      flags.out == "-" ? write_to_screen(opened, flags) : write_to_file(opened, flags);
  print_outcome(opened, flags, outcome);
  outcome.unreadable.end(flags.model, *opened.source, outcome.images);
}

void add_submission_flags(const Command& command, PredictFlags& flags) {
  command
      .add_option("--id", flags.id,
                  "ids of a submission: the image's file name without its ending, with it, or its "
                  "path")
      .one_of({"stem", "name", "path"});
  command.add_option("--positive", flags.rows.positive,
                     "label of a submission: probability of this class (default: class name)");
}

}  // namespace

void add_predict_command(const Command& parent) {
  const Command command = parent.add_command("predict", "Classify images");
  auto flags = std::make_shared<PredictFlags>();
  flags->model.needs_labels = false;
  flags->model.add_to(command);
  command.add_option("-o,--out", flags->out, "file to write; -: the screen");
  command
      .add_option("--format", flags->format,
                  "csv; jsonl: one JSON object per line; submission: id,label as competitions "
                  "take it")
      .one_of({"csv", "jsonl", "submission"});
  command.add_option("--topk", flags->rows.top_k,
                     "write only the N most probable classes (0: all classes, in columns)");
  add_submission_flags(command, *flags);
  command.add_option("--where", flags->where,
                     "only predictions like p<0.6 (the doubtful ones), p>=0.9, class=NAME");
  command.add_option("--grid", flags->grid,
                     "write a PNG file with the first 64 of them, class and confidence below");
  flags->files.add_to(command);
  command.add_flag("--json", flags->json,
                   "print counts and the time of prediction as one JSON object");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
