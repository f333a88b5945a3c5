// `stoker doctor`: what is wrong with a folder or table of images, before anyone trains on it.
#include "stoker/doctor/doctor.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/colour.h"
#include "stoker/cli/commands/commands.h"
#include "stoker/cli/doctor_output.h"
#include "stoker/cli/long_work.h"
#include "stoker/cli/option_text.h"
#include "stoker/cli/output_files.h"
#include "stoker/cli/setting_flags.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/cpu_budget.h"
#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"
#include "stoker/data/data_settings.h"
#include "stoker/data/sources/image_table.h"
#include "stoker/data/sources/table_writer.h"
#include "stoker/doctor/hamming_index.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kExamples = 3;  // of each kind, on the screen
constexpr const char* kNothingWritten = "no file was written";
constexpr const char* kSeenImages =
    "this run may have trained on these images and learnt wrong labels with them; for a better "
    "ranking train with `folds` 5 and pass that folder";

struct DoctorFlags {
  std::string folder;
  std::string out;         // empty: a folder of its own
  std::string json, html;  // in `out` where empty
  OutputFiles files;
  std::string list;     // none where empty
  std::string weights;  // of the model that checks labels; empty: none does
  std::string fail_on = "error";
  DoctorOptions options;
};

std::string counted(std::size_t count, const char* word, const char* plural) {
  return fmt::format("{} {}", count, count == 1 ? word : plural);
}

std::size_t count_severity(const Diagnosis& diagnosis, Severity severity) {
  return static_cast<std::size_t>(std::count_if(
      diagnosis.findings.begin(), diagnosis.findings.end(),
      [&](const Finding& finding) { return traits_of(finding.kind).severity == severity; }));
}

std::string verdict(const Diagnosis& diagnosis) {
  return fmt::format("{}, {}, {}",
                     counted(count_severity(diagnosis, Severity::kError), "error", "errors"),
                     counted(count_severity(diagnosis, Severity::kWarning), "warning", "warnings"),
                     counted(count_severity(diagnosis, Severity::kNote), "note", "notes"));
}

// What the images of a part are labelled with.
std::string labels_text(const Diagnosis& diagnosis, std::size_t part) {
  const std::size_t classes = diagnosis.parts[part].class_names.size();
  if (classes > 0) return "in " + counted(classes, "class", "classes");
  if (diagnosis.has_numbers) return "with numbers to predict";
  const bool several = std::ranges::any_of(
      diagnosis.images, [](const ExaminedImage& image) { return !image.values.empty(); });
  return several ? "with several classes each" : "without classes";
}

// "train: 720 images in 12 classes"
void print_parts(const Diagnosis& diagnosis) {
  for (std::size_t p = 0; p < diagnosis.parts.size(); ++p) {
    const auto images = static_cast<std::size_t>(
        std::count_if(diagnosis.images.begin(), diagnosis.images.end(),
                      [p](const ExaminedImage& image) { return image.part == p; }));
    fmt::print("{}: {} {}\n", diagnosis.parts[p].name, counted(images, "image", "images"),
               labels_text(diagnosis, p));
  }
}

void print_example(const Finding& finding) {
  const std::size_t named = std::min<std::size_t>(finding.paths.size(), 3);
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < named; ++i) shown.push_back(shown_path(finding, i));
  std::string paths = fmt::format("{}", fmt::join(shown, ", "));
  if (named < finding.paths.size()) {
    paths += fmt::format(" and {} more", finding.paths.size() - named);
  }
  fmt::print("    {}\n",
             plain_text(fmt::format("{}: {}", paths, finding.detail), std::string::npos));
}

TextColour colour_of(Severity severity) {
  if (severity == Severity::kNote) return TextColour::kBlue;
  return severity == Severity::kError ? TextColour::kRed : TextColour::kYellow;
}

// Findings of one kind.
void print_kind(std::span<const Finding> findings) {
  const FindingTraits& traits = traits_of(findings.front().kind);
  const std::string severity = fmt::format("{:<8}", severity_name(traits.severity));
  fmt::print("\n{} {} ({})\n", coloured(colour_of(traits.severity), severity, stdout), traits.title,
             findings.size());
  for (const Finding& finding : findings.first(std::min(findings.size(), kExamples))) {
    print_example(finding);
  }
  if (findings.size() > kExamples) fmt::print("    and {} more\n", findings.size() - kExamples);
  fmt::print("    > {}\n", with_flags(traits.advice));
}

void print_summary(const Diagnosis& diagnosis) {
  print_parts(diagnosis);
  const std::span<const Finding> all = diagnosis.findings;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t end = first;
    while (end < all.size() && all[end].kind == all[first].kind) ++end;
    print_kind(all.subspan(first, end - first));
    first = end;
  }
  fmt::print("\n{}\n", verdict(diagnosis));
}

void write_text(const fs::path& path, const std::string& text, const char* subject) {
  AtomicFile file(path, subject);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

// "doctor-flowers", of the images in flowers/: only the doctor writes there.
fs::path own_folder(const DoctorFlags& flags) {
  const fs::path examined = fs::absolute(flags.folder).lexically_normal();
  const fs::path name = examined.has_filename() ? examined : examined.parent_path();
  return "doctor-" + name.filename().string();
}

fs::path output_path(const std::string& given, const fs::path& folder, const char* name) {
  return given.empty() ? folder / name : fs::path(given);
}

bool is_table_name(const fs::path& path) {
  return path.extension() == ".csv" || path.extension() == ".tsv";
}

void check_outputs(const DoctorFlags& flags) {
  flags.files.check({flags.json, flags.html, flags.list});
  if (flags.out.empty()) return;
  flags.files.check({(fs::path(flags.out) / "doctor.json").string(),
                     (fs::path(flags.out) / "doctor.html").string()});
}

// The rows of a table keep all of their columns; a list has one class for each image.
void write_clean_table(const Diagnosis& diagnosis, const DoctorFlags& flags) {
  std::set<std::uint32_t> lines;
  for (const std::size_t i : clean_images(diagnosis)) lines.insert(diagnosis.images[i].line);
  write_table_rows(flags.list, diagnosis.table, flags.options.table, lines);
  fmt::print("{}: {} to train on\n", flags.list, counted(lines.size(), "image", "images"));
}

void write_clean_list(const Diagnosis& diagnosis, const DoctorFlags& flags) {
  const CleanList list = make_clean_list(diagnosis, flags.list);
  write_text(flags.list, list.text, "list");
  fmt::print("{}: {} to train on\n", flags.list, counted(list.images, "image", "images"));
  if (list.unnamable > 0) {
    fmt::print("  {} omitted: a tab or line break in a name; rename them\n", list.unnamable);
  }
}

void write_clean(const Diagnosis& diagnosis, const DoctorFlags& flags) {
  if (is_table_name(flags.list) && !diagnosis.table.empty()) {
    return write_clean_table(diagnosis, flags);
  }
  write_clean_list(diagnosis, flags);
}

void write_outputs(const Diagnosis& diagnosis, const DoctorFlags& flags) {
  const fs::path folder = flags.out.empty() ? own_folder(flags) : fs::path(flags.out);
  const fs::path json = output_path(flags.json, folder, "doctor.json");
  const fs::path html = output_path(flags.html, folder, "doctor.html");
  if (flags.json.empty() || flags.html.empty()) {
    std::error_code error;
    fs::create_directories(folder, error);  // where that fails, writing the file says why
  }
  write_text(json, doctor_json(diagnosis), "findings");
  const DoctorPage page =
      make_doctor_page(diagnosis, flags.options.limits, json.filename().string());
  write_text(html, doctor_page(page), "page");
  fmt::print("{}: with images\n{}: all findings\n", html.string(), json.string());
  if (!flags.list.empty()) write_clean(diagnosis, flags);
}

bool fails(const Diagnosis& diagnosis, const std::string& fail_on) {
  if (fail_on == "never") return false;
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    if (count_severity(diagnosis, severity) > 0) return true;
    if (severity_name(severity) == fail_on) return false;
  }
  return false;
}

Diagnosis diagnose_with_progress(const DoctorFlags& flags) {
  std::optional<LongWork> work;
  DoctorOptions options = flags.options;
  options.progress = [&work](std::uint64_t done, std::uint64_t total) {
    if (!work) work.emplace("examining", total, kNothingWritten);
    work->update(done);
  };
  Diagnosis diagnosis = diagnose(flags.folder, options);
  if (work) work->clear();
  return diagnosis;
}

void check_labels_with_progress(const DoctorFlags& flags, const LabelChecker& check_labels,
                                Diagnosis& diagnosis) {
  if (!check_labels) throw Error({.what = "this build of stoker has no models for --weights"});
  if (!diagnosis.table.empty() && diagnosis.parts.front().class_names.empty()) {
    throw Error({.what = "--weights checks labels of tables with one class for each image",
                 .path = flags.folder});
  }
  LongWork work("checking labels", diagnosis.images.size(), kNothingWritten);
  const LabelCheck check =
      check_labels({.folder = diagnosis.folder,
                    .weights = flags.weights,
                    .workers = flags.options.workers,
                    .limits = flags.options.limits,
                    .data = diagnosis.table.string(),
                    .table = flags.options.table,
                    .progress = [&](std::uint64_t done) { work.update(done); }});
  work.clear();
  add_label_findings(diagnosis, check);
  fmt::print("labels: {} of {} doubted by {}\n", check.suspects.size(),
             counted(check.images, "image", "images"), flags.weights);
  if (!check.out_of_fold) fmt::print("  {}\n", with_flags(kSeenImages));
}

// A list would lose several classes or numbers.
void check_list(const DoctorFlags& flags, const Diagnosis& diagnosis) {
  const bool loses = std::ranges::any_of(
      diagnosis.images, [](const ExaminedImage& image) { return !image.values.empty(); });
  if (flags.list.empty() || !loses || is_table_name(flags.list)) return;
  throw Error({.what = "a list has one class for each image",
               .path = flags.list,
               .expected = "the name of a table, .csv or .tsv, for --write-list"});
}

void run(const DoctorFlags& flags, const LabelChecker& check_labels) {
  check_outputs(flags);
  Diagnosis diagnosis = diagnose_with_progress(flags);
  check_list(flags, diagnosis);
  if (!flags.weights.empty()) check_labels_with_progress(flags, check_labels, diagnosis);
  print_summary(diagnosis);
  write_outputs(diagnosis, flags);
  if (fails(diagnosis, flags.fail_on)) throw ExitRequest{1};
}

void add_output_flags(const Command& command, DoctorFlags& flags) {
  command.add_option(
      "--out", flags.out,
      "folder for doctor.json and doctor.html; not given: doctor-NAME, of the folder examined");
  command.add_option("--json", flags.json, "file for all findings, instead of doctor.json");
  command.add_option("--html", flags.html, "file for the page, instead of doctor.html");
  command.add_option("--write-list", flags.list,
                     "write a list of the images to train on: those of train without error "
                     "findings, one of each set of duplicates. Of a table, a name with .csv or "
                     ".tsv keeps all columns");
  flags.files.add_to(command);
  command
      .add_option("--fail-on", flags.fail_on,
                  "least severity that makes the exit code 1: error, warning, note or never")
      .one_of({"error", "warning", "note", "never"});
}

void add_check_flags(const Command& command, DoctorOptions& options) {
  add_settings(command, settings_of(options.limits));
  add_settings(command, settings_of(options.table));
  command.add_option("--min-side", options.min_side, "images with a shorter side are tiny")
      .between(0, 1 << 20);
  command.add_option("--max-ratio", options.max_ratio, "of the longer side to the shorter")
      .between(1.0, 1e6);
  command
      .add_option("--max-imbalance", options.max_imbalance, "of the largest class to the smallest")
      .between(1.0, 1e9);
  command
      .add_option("--near", options.near_distance,
                  "bits in which the hashes of almost equal images may differ; -1: don't look")
      .between(-1, HammingIndex::kMaxDistance);
  command.add_flag("--mirrored", options.mirrored, "a mirrored image is almost equal too");
  command.add_option("--workers", options.workers, "threads that decode").between(1, 1024);
}

}  // namespace

void add_doctor_command(const Command& parent, const LabelChecker& check_labels) {
  const Command command = parent.add_command(
      "doctor", "Check a dataset for corrupt, unusual, duplicate and mislabelled images");
  auto flags = std::make_shared<DoctorFlags>();
  flags->options.workers = default_workers(cpu_budget());
  command
      .add_option("data", flags->folder,
                  "images in a folder for each class, or train/ and test/; or a table (.csv, .tsv)")
      .required()
      .check([](const std::string& path) -> std::string {
        std::error_code ignored;
        if (fs::is_directory(path, ignored) || is_image_table(path)) return "";
        return "Path does not exist: " + path;
      });
  add_output_flags(command, *flags);
  add_check_flags(command, flags->options);
  command.add_option("--weights", flags->weights,
                     "rank images that are probably mislabelled, by this model: a run's folder "
                     "(best one of train --folds) or a model file");
  command.on_run([flags, check_labels] { run(*flags, check_labels); });
}

}  // namespace stoker
