// `stoker report`: what runs did, as a page to look at or as Markdown.
#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/run/report_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

struct ReportFlags {
  std::vector<std::string> runs;
  std::string out, format = "html";
};

// A single run's report lies in its folder.
fs::path default_path(const ReportFlags& flags) {
  const std::string name = flags.format == "md" ? "report.md" : "report.html";
  return flags.runs.size() == 1 ? fs::path(flags.runs.front()) / name : fs::path(name);
}

void run(const ReportFlags& flags) {
  const fs::path path = flags.out.empty() ? default_path(flags) : fs::path(flags.out);
  write_report(flags.runs, path,
               flags.format == "md" ? ReportFormat::kMarkdown : ReportFormat::kHtml);
  fmt::print("{}\n", path.string());
}

}  // namespace

void add_report_command(const Command& parent) {
  const Command command = parent.add_command(
      "report", "What a run did, as a page to look at; of several, how they differ");
  auto flags = std::make_shared<ReportFlags>();
  command.add_option("runs", flags->runs, "folders of runs").required();
  command.add_option("-o,--out", flags->out,
                     "file to write; report.html, in the run's folder where there is one run");
  command
      .add_option("--format", flags->format,
                  "html: one file with all in it; md: Markdown, with "
                  "plots as PNG files beside it")
      .one_of({"html", "md"});
  command.footer(
      "Examples:\n  stoker report runs/mnist-mlp\n"
      "  stoker report runs/a runs/b --out compared.html\n"
      "  stoker report runs/a --format md --out thesis/run.md");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
