#include "stoker/report/doctor_page.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "stoker/core/invariant.h"
#include "stoker/image/webp.h"
#include "stoker/report/html.h"

namespace stoker {
namespace {

// The policy in the head forbids everything but inlined images and this style sheet, so that even
// a file name that got past the escaping could do nothing.
constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<style>
:root { --paper: #f6f7f9; --card: #fff; --ink: #1f2937; --pale: #667085; --line: #e3e6eb;
  --error: #c62f2f; --warning: #b26a00; --note: #2f6fc6; --p0: #3b76c4; --p1: #e0952f; --p2: #4f9f6e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171c; --card: #1d2128; --ink: #e4e7ec; --pale: #98a2b3; --line: #313742;
    --error: #f07171; --warning: #f0b455; --note: #74a9f5; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 32px 24px 64px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; }
h1 { font-size: 26px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0; }
.kicker { color: var(--pale); font-size: 13px; letter-spacing: .06em; text-transform: uppercase; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 20px 0 28px; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 10px 18px; min-width: 112px; }
.tile b { display: block; font-size: 24px; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: var(--pale); font-size: 13px; }
.tile.error b, .error > h2 .count { color: var(--error); }
.tile.warning b, .warning > h2 .count { color: var(--warning); }
.tile.note b, .note > h2 .count { color: var(--note); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px; margin: 0 0 18px; }
section.error { border-left: 5px solid var(--error); }
section.warning { border-left: 5px solid var(--warning); }
section.note { border-left: 5px solid var(--note); }
.badge { font-size: 12px; font-weight: 600; text-transform: uppercase; letter-spacing: .05em; }
.error .badge { color: var(--error); } .warning .badge { color: var(--warning); }
.note .badge { color: var(--note); }
.advice { margin: 2px 0 12px; color: var(--pale); }
.finding { border-top: 1px solid var(--line); padding: 12px 0 4px; }
.detail { margin: 0 0 8px; overflow-wrap: anywhere; }
.images { display: flex; flex-wrap: wrap; gap: 14px; align-items: flex-end; }
.grid { border-top: 1px solid var(--line); padding-top: 14px; align-items: flex-start; }
figure { margin: 0 0 8px; width: 164px; }
figure .frame { height: 164px; display: flex; align-items: center; justify-content: center;
  background: var(--paper); border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
figure img { display: block; max-width: 160px; max-height: 160px; }
.none { color: var(--pale); font-size: 13px; text-align: center; padding: 0 12px; }
figcaption { font-size: 12px; line-height: 1.4; margin-top: 4px; overflow-wrap: anywhere; }
figcaption span { color: var(--pale); display: block; }
ul { margin: 6px 0 8px; padding-left: 20px; font-size: 13px; overflow-wrap: anywhere; }
.more { color: var(--pale); font-size: 13px; margin: 8px 0 0; }
table { border-collapse: collapse; width: 100%; margin-top: 10px; font-size: 13px; }
td { padding: 3px 0; vertical-align: middle; }
td.name { width: 1%; max-width: 260px; padding-right: 14px; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
td.numbers { width: 1%; padding-left: 12px; white-space: nowrap; text-align: right;
  color: var(--pale); font-variant-numeric: tabular-nums; }
.bar { display: flex; height: 14px; border-radius: 3px; overflow: hidden; }
.p0 { background: var(--p0); } .p1 { background: var(--p1); } .p2 { background: var(--p2); }
.legend { font-size: 13px; color: var(--pale); }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin: 0 5px 0 12px; }
.legend i:first-child { margin-left: 0; }
nav a { color: inherit; text-decoration: none; display: flex; gap: 10px; padding: 4px 0; }
nav a:hover { text-decoration: underline; }
nav .number { width: 56px; text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
nav .badge { width: 76px; align-self: center; flex: none; }
@media (max-width: 560px) {
  body { padding: 20px 12px 40px; } section { padding: 14px; }
  .tiles { gap: 8px; margin: 14px 0 18px; } .tile { flex: 1 1 28%; min-width: 0; padding: 8px 12px; }
  .images { gap: 12px 10px; } figure { width: calc(50% - 5px); }
  figure .frame { height: auto; aspect-ratio: 1; } figure img { max-width: 100%; height: auto; }
  nav .number { width: 40px; flex: none; } }
@media print {
  body { padding: 0; background: #fff; font-size: 12px; } section, .tile { border-color: #ccc; }
  .finding, figure, tr, .tile { break-inside: avoid; } h2, .badge, .advice, .detail { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
</style>
)";

constexpr std::array<std::string_view, 3> kPartColours = {"p0", "p1", "p2"};
constexpr int kThumbnailQuality = 75;

std::string_view name_of(PageSeverity severity) {
  switch (severity) {
    case PageSeverity::kError:
      return "error";
    case PageSeverity::kWarning:
      return "warning";
    case PageSeverity::kNote:
      return "note";
  }
  return "";
}

// "1 image", "2 images"
std::string counted(std::uint64_t count, std::string_view word, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? word : plural);
}

void add_tile(std::string& out, std::uint64_t number, std::string_view label,
              std::string_view style = "") {
  out += fmt::format("<div class=\"tile {}\"><b>{}</b><span>{}</span></div>\n",
                     number == 0 ? "" : style, number, escape_html(label));
}

std::uint64_t count_of(const DoctorPage& page, PageSeverity severity) {
  std::uint64_t count = 0;
  for (const PageSection& section : page.sections) {
    if (section.severity == severity) count += section.count;
  }
  return count;
}

void add_tiles(std::string& out, const DoctorPage& page) {
  out += "<div class=\"tiles\">\n";
  add_tile(out, count_of(page, PageSeverity::kError), "errors", "error");
  add_tile(out, count_of(page, PageSeverity::kWarning), "warnings", "warning");
  add_tile(out, count_of(page, PageSeverity::kNote), "notes", "note");
  add_tile(out, page.images, "images");
  if (page.part_names.size() > 1) {
    for (std::size_t p = 0; p < page.part_names.size(); ++p) {
      add_tile(out, page.part_images[p], "in " + page.part_names[p]);
    }
  }
  add_tile(out, page.classes.size() + page.classes_omitted, "classes");
  out += "</div>\n";
}

void add_contents(std::string& out, const DoctorPage& page) {
  out += "<section><h2>Findings</h2>\n";
  if (page.sections.empty()) out += "<p>Nothing to complain about.</p>\n";
  out += "<nav>\n";
  for (std::size_t s = 0; s < page.sections.size(); ++s) {
    const PageSection& section = page.sections[s];
    const std::string_view severity = name_of(section.severity);
    out += fmt::format(
        "<a class=\"{0}\" href=\"#s{1}\"><span class=\"number\">{2}</span>"
        "<span class=\"badge\">{0}</span><span>{3}</span></a>\n",
        severity, s, section.count, escape_html(section.title));
  }
  out += "</nav></section>\n";
}

std::uint64_t sum_of(const PageClass& one) {
  return std::accumulate(one.counts.begin(), one.counts.end(), std::uint64_t{0});
}

void add_class_row(std::string& out, const PageClass& one, std::uint64_t most) {
  std::string bar, numbers;
  for (std::size_t p = 0; p < one.counts.size(); ++p) {
    const double share = 100.0 * static_cast<double>(one.counts[p]) / static_cast<double>(most);
    bar += fmt::format("<div class=\"{}\" style=\"width:{:.2f}%\"></div>",
                       kPartColours[p % kPartColours.size()], share);
    numbers += fmt::format("{}{}", p == 0 ? "" : " + ", one.counts[p]);
  }
  const std::string name = escape_html(one.name);
  out += fmt::format(
      "<tr><td class=\"name\" title=\"{0}\">{0}</td><td><div class=\"bar\">{1}</div></td>"
      "<td class=\"numbers\">{2}</td></tr>\n",
      name, bar, numbers);
}

void add_balance(std::string& out, const DoctorPage& page) {
  if (page.classes.empty()) return;
  out += "<section><h2>Images of each class</h2>\n<div class=\"legend\">";
  for (std::size_t p = 0; p < page.part_names.size(); ++p) {
    out += fmt::format("<i class=\"{}\"></i>{}", kPartColours[p % kPartColours.size()],
                       escape_html(page.part_names[p]));
  }
  out += "</div>\n<table>\n";
  std::uint64_t most = 1;
  for (const PageClass& one : page.classes) most = std::max(most, sum_of(one));
  for (const PageClass& one : page.classes) add_class_row(out, one, most);
  out += "</table>\n";
  if (page.classes_omitted > 0) {
    out += fmt::format("<p class=\"more\">{} not shown</p>\n",
                       counted(page.classes_omitted, "more class is", "more classes are"));
  }
  out += "</section>\n";
}

void add_image(std::string& out, const PageImage& image, std::string_view detail) {
  const ImageShape& shape = image.thumbnail.shape();
  const std::string path = escape_html(image.path);
  out += "<figure><div class=\"frame\">";
  if (shape.bytes() == 0) {
    out += "<div class=\"none\">cannot be shown</div>";
  } else {
    out +=
        fmt::format("<img width=\"{}\" height=\"{}\" alt=\"{}\" src=\"data:image/webp;base64,{}\">",
                    shape.width, shape.height, path,
                    base64(encode_webp(image.thumbnail.view(), kThumbnailQuality)));
  }
  out += fmt::format("</div><figcaption>{}", path_html(image.path));
  for (const std::string_view line : {std::string_view(image.caption), detail}) {
    if (!line.empty()) out += fmt::format("<span>{}</span>", escape_html(line));
  }
  out += "</figcaption></figure>\n";
}

void add_lines(std::string& out, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out += "<ul>\n";
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", escape_html(line));
  out += "</ul>\n";
}

void add_finding(std::string& out, const PageFinding& finding) {
  out += fmt::format("<div class=\"finding\"><p class=\"detail\">{}</p><div class=\"images\">\n",
                     escape_html(finding.detail));
  for (const PageImage& image : finding.images) add_image(out, image, "");
  out += "</div>\n";
  add_lines(out, finding.more_paths);
  if (finding.omitted > 0) {
    out += fmt::format("<p class=\"more\">and {}</p>\n",
                       counted(finding.omitted, "more file", "more files"));
  }
  out += "</div>\n";
}

bool is_single(const PageFinding& finding) {
  return finding.images.size() == 1 && finding.more_paths.empty() && finding.omitted == 0;
}

// Findings of one image each stand side by side, those of several below each other.
void add_findings(std::string& out, const std::vector<PageFinding>& findings) {
  if (findings.empty()) return;
  if (!std::all_of(findings.begin(), findings.end(), is_single)) {
    for (const PageFinding& finding : findings) add_finding(out, finding);
    return;
  }
  out += "<div class=\"images grid\">\n";
  for (const PageFinding& finding : findings) {
    add_image(out, finding.images.front(), finding.detail);
  }
  out += "</div>\n";
}

void add_section(std::string& out, const DoctorPage& page, std::size_t index) {
  const PageSection& section = page.sections[index];
  const std::string_view severity = name_of(section.severity);
  out += fmt::format(
      "<section class=\"{0}\" id=\"s{1}\"><div class=\"badge\">{0}</div>\n"
      "<h2>{2} <span class=\"count\">{3}</span></h2>\n<p class=\"advice\">{4}</p>\n",
      severity, index, escape_html(section.title), section.count, escape_html(section.advice));
  add_findings(out, section.findings);
  add_lines(out, section.plain);
  if (section.omitted > 0) {
    out += fmt::format("<p class=\"more\">and {}{}</p>\n", section.omitted,
                       page.all_findings_file.empty()
                           ? " more"
                           : " more, all in " + escape_html(page.all_findings_file));
  }
  out += "</section>\n";
}

}  // namespace

std::string doctor_page(const DoctorPage& page) {
  STOKER_INVARIANT(page.part_names.size() == page.part_images.size(), "{} names, {} counts",
                   page.part_names.size(), page.part_images.size());
  const std::string folder = escape_html(page.folder);
  std::string out(kHead);
  out += fmt::format("<title>stoker doctor: {}</title>\n</head>\n<body><main>\n", folder);
  out += fmt::format("<div class=\"kicker\">stoker doctor</div>\n<h1>{}</h1>\n",
                     path_html(page.folder));
  add_tiles(out, page);
  add_contents(out, page);
  add_balance(out, page);
  for (std::size_t s = 0; s < page.sections.size(); ++s) add_section(out, page, s);
  out += "</main></body>\n</html>\n";
  return out;
}

}  // namespace stoker
