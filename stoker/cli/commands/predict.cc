// `stoker predict`: the probabilities of every class for each sample, as CSV or JSON lines.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/json_text.h"
#include "stoker/cli/model_flags.h"
#include "stoker/cli/progress.h"
#include "stoker/core/atomic_file.h"

namespace stoker {
namespace {

struct PredictFlags {
  ModelFlags model;
  std::string out = "-";
  std::string format = "csv";
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

// Rows of one format, from the predictions of one sample.
class RowWriter {
 public:
  RowWriter(const std::vector<std::string>& class_names, bool json)
      : class_names_(class_names), json_(json) {}

  [[nodiscard]] std::string header() const {
    if (json_) return "";
    std::string line = "sample,class,probability";
    for (const std::string& name : class_names_) line += "," + csv_field(name);
    return line + "\n";
  }

  [[nodiscard]] std::string row(const std::string& sample, std::span<const float> shares) const {
    const auto best =
        static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    if (json_) return json_row(sample, shares, best);
    std::string line =
        fmt::format("{},{},{:.6f}", csv_field(sample), csv_field(class_names_[best]), shares[best]);
    for (const float share : shares) line += fmt::format(",{:.6f}", share);
    return line + "\n";
  }

 private:
  [[nodiscard]] std::string json_row(const std::string& sample, std::span<const float> shares,
                                     std::size_t best) const {
    nlohmann::ordered_json json = {
        {"sample", sample}, {"class", class_names_[best]}, {"probability", shares[best]}};
    for (std::size_t i = 0; i < shares.size(); ++i) {
      json["probabilities"][class_names_[i]] = shares[i];
    }
    return json_text(json) + "\n";
  }

  const std::vector<std::string>& class_names_;
  bool json_;
};

void write_rows(const ModelAndData& opened, const RowWriter& writer,
                const std::function<void(const std::string&)>& write) {
  write(writer.header());
  Progress progress("predict", opened.source->size());
  std::uint64_t done = 0;
  predict(*opened.loaded.model, opened.source, opened.options, [&](const Predictions& batch) {
    std::string rows;
    const auto classes = static_cast<std::size_t>(batch.classes);
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      rows += writer.row(opened.source->sample_name(batch.indices[i]),
                         batch.probabilities.subspan(i * classes, classes));
    }
    write(rows);
    progress.update(done += batch.indices.size());
  });
  progress.clear();
}

void run(const PredictFlags& flags) {
  const ModelAndData opened = open_model_and_data(flags.model);
  const RowWriter writer(opened.loaded.card.class_names, flags.format == "jsonl");
  if (flags.out == "-") {
    write_rows(opened, writer,
               [](const std::string& rows) { std::fwrite(rows.data(), 1, rows.size(), stdout); });
    return;
  }
  AtomicFile file(flags.out, "predictions");
  write_rows(opened, writer,
             [&](const std::string& rows) { file.write(std::as_bytes(std::span(rows))); });
  file.commit();
  fmt::print("{}: {} predictions\n", flags.out, opened.source->size());
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
  command->callback([flags] { run(*flags); });
}

}  // namespace stoker
