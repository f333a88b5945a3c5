// Where the time went, and what the feed did meanwhile.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html.h"
#include "stoker/report/html_page.h"
#include "stoker/report/svg_chart.h"

namespace stoker::detail {
namespace {

struct Part {
  const char* column;
  const char* name;
  std::size_t colour;
};
constexpr std::array<Part, 5> kParts = {{{"wait", "waiting for data", 3},
                                         {"copy", "copying", 5},
                                         {"forward", "forward", 0},
                                         {"backward", "backward", 4},
                                         {"step", "optimiser", 2}}};

double seconds_at(const NumberTable& table, const char* column, std::size_t row) {
  const std::vector<double>* values = table.find(column);
  if (values == nullptr || !std::isfinite((*values)[row])) return 0;
  return std::max(0.0, (*values)[row]);
}

// What is not one of the parts.
double rest_of(const NumberTable& timing, std::size_t row) {
  double rest = seconds_at(timing, "seconds", row);
  for (const Part& part : kParts) rest -= seconds_at(timing, part.column, row);
  return std::max(0.0, rest);
}

std::string stack_html(const NumberTable& timing, std::size_t row) {
  const double total = std::max(1e-9, seconds_at(timing, "seconds", row));
  std::string out = "<div class=\"stack\">";
  const auto add = [&](std::size_t colour, const char* name, double seconds) {
    const double share = 100 * std::min(1.0, seconds / total);
    if (share < 0.05) return;
    out += fmt::format(
        "<i class=\"c{}\" style=\"width:{:.2f}%\" title=\"{}: {:.2f} s, {:.1f} %\">"
        "</i>",
        colour, share, name, seconds, share);
  };
  for (const Part& part : kParts) add(part.colour, part.name, seconds_at(timing, part.column, row));
  add(7, "other", rest_of(timing, row));
  return out + "</div>";
}

std::string stacks(const NumberTable& timing) {
  constexpr std::size_t kMostRows = 12;  // the first and the last ones
  const std::size_t rows = timing.rows();
  std::string out =
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Time of epochs\">"
      "<table class=\"data times\"><thead><tr><th scope=\"col\">epoch</th><th scope=\"col\" "
      "class=\"text\">fraction of the training phase</th><th scope=\"col\">seconds</th>"
      "<th scope=\"col\">samples/s</th></tr></thead><tbody>\n";
  for (std::size_t r = 0; r < rows; ++r) {
    if (rows > kMostRows && r >= kMostRows / 2 && r < rows - kMostRows / 2) continue;
    out += fmt::format(
        "<tr><th scope=\"row\">{:.0f}</th><td class=\"text\">{}</td><td>{:.2f}</td>"
        "<td>{}</td></tr>\n",
        seconds_at(timing, "epoch", r), stack_html(timing, r), seconds_at(timing, "seconds", r),
        count_text(seconds_at(timing, "samples_per_second", r)));
  }
  out += "</tbody></table></div>\n<ul class=\"legend blocks\">";
  for (const Part& part : kParts) {
    out += fmt::format("<li class=\"c{}\">{}</li>", part.colour, part.name);
  }
  return out + "<li class=\"c7\">other</li></ul>\n";
}

NamedValues time_facts(const RunReport& run) {
  const NumberTable& t = run.timing;
  NamedValues facts;
  double all = 0;
  std::array<double, kParts.size()> sums{};
  for (std::size_t r = 0; r < t.rows(); ++r) {
    all += seconds_at(t, "seconds", r);
    for (std::size_t p = 0; p < kParts.size(); ++p) sums[p] += seconds_at(t, kParts[p].column, r);
  }
  for (std::size_t p = 0; p < kParts.size(); ++p) {
    facts.emplace_back(kParts[p].name, fmt::format("{:.2f} s, {:.1f} %", sums[p],
                                                   100 * sums[p] / std::max(1e-9, all)));
  }
  double validation = 0;
  for (std::size_t r = 0; r < t.rows(); ++r) validation += seconds_at(t, "val_seconds", r);
  facts.emplace_back("training phases", duration_text(all));
  facts.emplace_back("validation phases", duration_text(validation));
  const double features = features_seconds(run);
  if (features > 0) facts.emplace_back("making features", duration_text(features));
  return facts;
}

std::string feed_html(const RunReport& run) {
  const FeedFacts& feed = run.feed;
  if (!feed.known()) return "";
  ChartSeries fill{.name = "finished batches", .colour = 0};
  for (std::size_t i = 0; i < feed.ring_fill.size(); ++i) {
    fill.x.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(feed.ring_fill.size()) *
                     100);
    fill.y.push_back(feed.ring_fill[i]);
  }
  NamedValues shares;
  if (std::isfinite(feed.store)) shares.emplace_back("fetching", percent_text(feed.store));
  shares.insert(shares.end(), {{"reading", percent_text(feed.read)},
                               {"augmenting", percent_text(feed.augment)},
                               {"writing", percent_text(feed.write)},
                               {"waiting, ring full", percent_text(feed.blocked)}});
  const std::string stages = facts_html(shares);
  return fmt::format(
      "<div class=\"split\" style=\"margin-top:20px\"><div style=\"flex:1 1 "
      "320px;max-width:520px\">"
      "{}</div><div class=\"grow\"><h3>What the workers did</h3>{}<p class=\"hint\" "
      "style=\"margin-top:8px\">A full ring means that the computation is the slower side; an "
      "empty "
      "one, that the workers are.</p></div></div>\n",
      svg_chart(std::vector<ChartSeries>{fill},
                {.title = fmt::format("How full the ring of {:.0f} batches was", feed.ring_batches),
                 .x_name = "per cent of the run",
                 .y_low = 0,
                 .y_high = feed.ring_batches}),
      stages);
}

}  // namespace

std::string time_section(const RunReport& run) {
  if (run.timing.rows() == 0) return "";
  return fmt::format(
      "<section id=\"time\"><h2>Time</h2>\n<p class=\"hint\">As the thread that trains spends it. "
      "Where a device computes by itself, these are the times in which it is told what to do.</p>\n"
      "<div class=\"split\"><div class=\"grow\" style=\"flex-basis:460px\">{}</div><div>{}</div>"
      "</div>\n{}</section>\n",
      stacks(run.timing), facts_html(time_facts(run)), feed_html(run));
}

}  // namespace stoker::detail
