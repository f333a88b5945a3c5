// `stoker plot`: columns of CSV files, such as those of runs, as lines in one image.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/output_files.h"
#include "stoker/core/error.h"
#include "stoker/core/metric_list.h"
#include "stoker/core/suggest.h"
#include "stoker/image/png.h"
#include "stoker/report/line_plot.h"
#include "stoker/run/number_table.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct PlotFlags {
  std::vector<std::string> files;
  std::vector<std::string> names;
  std::string x = column_name::kEpoch;
  std::vector<std::string> y = {column_name::kValTop1};
  std::string title, output = "plot.png";
  bool log2 = false;
  OutputFiles outputs;
};

struct Table {
  std::string name;
  fs::path path;
  NumberTable numbers;
};

Table read_table(const std::string& file) {
  Table table{.name = fs::path(file).stem().string(), .path = file, .numbers = {}};
  if (fs::is_directory(file)) {
    table.name = fs::path(file).filename().string();
    table.path = fs::path(file) / "results.csv";
  }
  table.numbers = read_number_table(table.path);
  return table;
}

const std::vector<double>& column(const Table& table, const std::string& name) {
  if (const std::vector<double>* found = table.numbers.find(name)) return *found;
  const std::vector<std::string>& columns = table.numbers.columns;
  throw Error({.what = "the table has no such column",
               .path = table.path.string(),
               .expected = fmt::format("one of {}", fmt::join(columns, ", ")),
               .found = fmt::format("\"{}\"", name),
               .hint = did_you_mean(name, columns)});
}

// Columns of one CSV file are told apart by their names; files and runs by theirs.
std::string series_name(const Table& table, const std::string& y, const PlotFlags& flags) {
  const bool lone_file = flags.files.size() == 1 && !fs::is_directory(flags.files.front());
  if (lone_file && flags.names.empty()) return y;
  if (flags.y.size() == 1) return table.name;
  return flags.files.size() == 1 ? y : fmt::format("{} {}", table.name, y);
}

void run(const PlotFlags& flags) {
  flags.outputs.check({flags.output});
  std::vector<PlotSeries> series;
  for (std::size_t i = 0; i < flags.files.size(); ++i) {
    Table table = read_table(flags.files[i]);
    if (i < flags.names.size()) table.name = flags.names[i];
    for (const std::string& y : flags.y) {
      series.push_back({.name = series_name(table, y, flags),
                        .x = column(table, flags.x),
                        .y = column(table, y)});
    }
  }
  const Image plot =
      line_plot(series, {.title = flags.title,
                         .x_title = flags.x,
                         .y_title = flags.y.size() == 1 ? flags.y.front() : "",
                         .x_scale = flags.log2 ? AxisScale::kLog2 : AxisScale::kLinear});
  write_png(flags.output, plot.view());
  fmt::print("{}: {} lines\n", flags.output, series.size());
}

}  // namespace

void add_plot_command(const Command& parent) {
  const Command command = parent.add_command("plot", "Plot metrics of runs");
  auto flags = std::make_shared<PlotFlags>();
  command.add_option("files", flags->files, "CSV files, or folders of runs").required();
  command.add_option("--names", flags->names, "what the legend calls them, in the same order");
  command.add_option("-x", flags->x, "column of the x axis");
  command.add_option("-y", flags->y, "columns to draw").show_default();
  command.add_flag("--log2", flags->log2, "powers of two on the x axis, e.g. for workers");
  command.add_option("--title", flags->title, "above the image");
  command.add_option("-o,--out", flags->output, "the PNG file to write");
  flags->outputs.add_to(command);
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
