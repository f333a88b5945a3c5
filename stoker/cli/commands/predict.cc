// `stoker predict`: the probabilities of every class for each sample, as CSV or JSON lines.
#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/json_text.h"
#include "stoker/cli/model_flags.h"
#include "stoker/cli/prediction_filter.h"
#include "stoker/cli/progress.h"
#include "stoker/core/atomic_file.h"
#include "stoker/image/png.h"
#include "stoker/report/picture_grid.h"

namespace stoker {
namespace {

struct PredictFlags {
  ModelFlags model;
  std::string out = "-";
  std::string format = "csv";
  std::size_t top_k = 0;
  std::string where;
  std::string grid;
};

// Quoted where a comma, a quote or a line break would end the field.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// What was predicted for one sample, the most probable classes first.
struct Prediction {
  std::string sample;
  std::vector<std::size_t> ranked;  // classes
  std::span<const float> shares;    // of each class, in the model's order

  [[nodiscard]] float best() const { return shares[ranked.front()]; }
};

std::vector<std::size_t> rank(std::span<const float> shares) {
  std::vector<std::size_t> ranked(shares.size());
  std::iota(ranked.begin(), ranked.end(), std::size_t{0});
  std::ranges::stable_sort(ranked, [&](auto a, auto b) { return shares[a] > shares[b]; });
  return ranked;
}

// Rows of one format: with `top_k` so many classes and their probabilities, else all of them.
class RowWriter {
 public:
  RowWriter(const std::vector<std::string>& class_names, const PredictFlags& flags)
      : class_names_(class_names),
        json_(flags.format == "jsonl"),
        top_k_(std::min(flags.top_k, class_names.size())) {}

  [[nodiscard]] std::string header() const {
    if (json_) return "";
    std::string line = "sample,class,probability";
    for (std::size_t i = 1; i < top_k_; ++i) {
      line += fmt::format(",class{0},probability{0}", i + 1);
    }
    if (top_k_ == 0) {
      for (const std::string& name : class_names_) line += "," + csv_field(name);
    }
    return line + "\n";
  }

  [[nodiscard]] std::string row(const Prediction& prediction) const {
    if (json_) return json_row(prediction);
    std::string line = csv_field(prediction.sample);
    for (std::size_t i = 0; i < std::max<std::size_t>(1, top_k_); ++i) {
      const std::size_t c = prediction.ranked[i];
      line += fmt::format(",{},{:.6f}", csv_field(class_names_[c]), prediction.shares[c]);
    }
    if (top_k_ == 0) {
      for (const float share : prediction.shares) line += fmt::format(",{:.6f}", share);
    }
    return line + "\n";
  }

 private:
  [[nodiscard]] std::string json_row(const Prediction& prediction) const {
    nlohmann::ordered_json json = {{"sample", prediction.sample},
                                   {"class", class_names_[prediction.ranked.front()]},
                                   {"probability", prediction.best()}};
    for (std::size_t i = 0; i < (top_k_ == 0 ? class_names_.size() : top_k_); ++i) {
      const std::size_t c = top_k_ == 0 ? i : prediction.ranked[i];
      json["probabilities"][class_names_[c]] = prediction.shares[c];
    }
    return json_text(json) + "\n";
  }

  const std::vector<std::string>& class_names_;
  bool json_;
  std::size_t top_k_;
};

// The first pictures that the user wants to see, as the network sees them.
class Grid {
 public:
  explicit Grid(const ModelAndData& opened) : opened_(opened) {}

  // `label` is -1 where the class is not known.
  void add(std::uint64_t index, std::int64_t label, const Prediction& prediction) {
    constexpr std::size_t kMost = 64;
    if (pictures_.size() == kMost) return;
    SampleBuffer buffer;
    auto sample = opened_.source->read_framed(
        index, {.framing = opened_.options.policy.framing(), .key = {}}, buffer);
    const std::vector<std::string>& names = opened_.loaded.card.class_names;
    const std::size_t chosen = prediction.ranked.front();
    GridPicture& picture = pictures_.emplace_back(GridPicture{Image(sample.value().image)});
    if (label < 0) {
      picture.label = fmt::format("{} {:.0f} %", names[chosen], 100 * prediction.best());
      return;
    }
    picture.label = names[static_cast<std::size_t>(label)];
    picture.prediction = {.name = names[chosen],
                          .probability = prediction.best(),
                          .right = chosen == static_cast<std::size_t>(label)};
  }
  void write(const std::string& path, const std::string& title) const {
    write_png(path, picture_grid(pictures_, {.title = title}).view());
  }
  [[nodiscard]] bool empty() const { return pictures_.empty(); }

 private:
  const ModelAndData& opened_;
  std::vector<GridPicture> pictures_;
};

using WriteText = std::function<void(const std::string&)>;

// How many rows were written.
std::uint64_t write_rows(const ModelAndData& opened, const PredictFlags& flags,
                         const WriteText& write) {
  const std::vector<std::string>& names = opened.loaded.card.class_names;
  const RowWriter writer(names, flags);
  const PredictionFilter filter(flags.where, names);
  Grid grid(opened);
  Progress progress("predict", opened.source->size());
  std::uint64_t done = 0, written = 0;
  write(writer.header());
  predict(*opened.loaded.model, opened.source, opened.options, [&](const Predictions& batch) {
    std::string rows;
    const auto classes = static_cast<std::size_t>(batch.classes);
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      const std::span<const float> shares = batch.probabilities.subspan(i * classes, classes);
      const Prediction prediction{opened.source->sample_name(batch.indices[i]), rank(shares),
                                  shares};
      if (!filter.lets_through(names[prediction.ranked.front()], prediction.best())) continue;
      rows += writer.row(prediction);
      ++written;
      if (!flags.grid.empty()) grid.add(batch.indices[i], batch.labels[i], prediction);
    }
    write(rows);
    progress.update(done += batch.indices.size());
  });
  progress.clear();
  if (!grid.empty()) grid.write(flags.grid, fmt::format("{} {}", flags.model.data, flags.where));
  return written;
}

void run(const PredictFlags& flags) {
  const ModelAndData opened = open_model_and_data(flags.model);
  if (flags.out == "-") {
    write_rows(opened, flags,
               [](const std::string& rows) { std::fwrite(rows.data(), 1, rows.size(), stdout); });
    return;
  }
  AtomicFile file(flags.out, "predictions");
  const std::uint64_t written = write_rows(
      opened, flags, [&](const std::string& rows) { file.write(std::as_bytes(std::span(rows))); });
  file.commit();
  fmt::print("{}: {} predictions\n", flags.out, written);
}

}  // namespace

void add_predict_command(CLI::App& parent) {
  CLI::App* command =
      parent.add_subcommand("predict", "Probabilities of every class for each sample");
  auto flags = std::make_shared<PredictFlags>();
  flags->model.needs_labels = false;
  flags->model.add_to(*command);
  command->add_option("-o,--out", flags->out, "file to write; -: the screen")
      ->capture_default_str();
  command->add_option("--format", flags->format, "csv, or jsonl: a JSON object a line")
      ->check(CLI::IsMember({"csv", "jsonl"}))
      ->capture_default_str();
  command->add_option("--topk", flags->top_k,
                      "only so many classes and their probabilities; 0: all classes, in columns");
  command->add_option("--where", flags->where,
                      "only predictions like p<0.6 (the doubtful ones), p>=0.9, class=NAME");
  command->add_option("--grid", flags->grid,
                      "write a PNG file with the first 64 of them, class and confidence below");
  command->callback([flags] { run(*flags); });
}

}  // namespace stoker
