// `stoker report` and `stoker compare`: what runs did, as a page to look at or as Markdown.
#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/output_files.h"
#include "stoker/run/report_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct ReportFlags {
  std::vector<std::string> runs;
  std::string out, format = "html";
  OutputFiles files;
};

// A single run's report lies in its folder.
fs::path default_path(const ReportFlags& flags) {
  const std::string ending = flags.format == "md" ? ".md" : ".html";
  return flags.runs.size() == 1 ? fs::path(flags.runs.front()) / ("report" + ending)
                                : fs::path("comparison" + ending);
}

void run(const ReportFlags& flags) {
  const fs::path path = flags.out.empty() ? default_path(flags) : fs::path(flags.out);
  const bool is_in_its_run = flags.out.empty() && flags.runs.size() == 1;
  if (!is_in_its_run) flags.files.check({path.string()});
  write_report(flags.runs, path,
               flags.format == "md" ? ReportFormat::kMarkdown : ReportFormat::kHtml);
  fmt::print("{}\n", path.string());
}

// All but the folders.
void add_output_flags(const Command& command, ReportFlags& flags) {
  command.add_option("-o,--out", flags.out,
                     "file to write; not given: report.html in the folder of a single run, "
                     "comparison.html for several");
  command
      .add_option("--format", flags.format,
                  "html: one file with all in it; md: Markdown, with plots as PNG files beside it")
      .one_of({"html", "md"});
  flags.files.add_to(command);
}

}  // namespace

void add_compare_command(const Command& parent) {
  const Command command = parent.add_command("compare", "Compare runs in one HTML report");
  auto flags = std::make_shared<ReportFlags>();
  command.add_option("runs", flags->runs, "folders of two or more runs").required().values(2, 1000);
  add_output_flags(command, *flags);
  command.footer(
      "Examples:\n  stoker compare runs/a runs/b\n"
      "  stoker compare runs/a runs/b --out compared.html");
  command.on_run([flags] { run(*flags); });
}

void add_report_command(const Command& parent) {
  const Command command = parent.add_command("report", "Create an HTML report of one or more runs");
  auto flags = std::make_shared<ReportFlags>();
  command.add_option("runs", flags->runs, "folders of runs").required();
  add_output_flags(command, *flags);
  command.footer(
      "Examples:\n  stoker report runs/mnist-mlp\n"
      "  stoker report runs/a runs/b --out compared.html\n"
      "  stoker report runs/a --format md --out thesis/run.md");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
