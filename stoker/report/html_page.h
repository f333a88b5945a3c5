// What the reports' pages share: head, tiles, tables, numbers as text. Nothing is fetched: style
// and script are inside, and the page's policy lets no other script run, so that even text of a
// file that got past the escaping could do nothing. Functions without state, safe from any thread.
// `html` parameters are taken as they are, all other text is escaped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stoker/report/run_report.h"

namespace stoker {

// Up to and with <body>.
[[nodiscard]] std::string page_head(std::string_view title);
[[nodiscard]] std::string page_end();

[[nodiscard]] std::string tile(std::string_view value, std::string_view label);
[[nodiscard]] std::string image_html(const ReportImage& image, std::string_view description);
// A list of names and values.
[[nodiscard]] std::string facts_html(const NamedValues& values);

struct HtmlCell {
  std::string text = {};
  double sort_by = 0;  // where numeric
  bool numeric = false;
  std::string style = {};  // a class
};
[[nodiscard]] HtmlCell number_cell(double value, std::string text);
[[nodiscard]] HtmlCell text_cell(std::string text);

// The first column names the rows. Scrolls sideways where it is wide.
struct HtmlTable {
  std::string label = {};  // for who cannot see it
  std::vector<std::string> columns = {};
  std::vector<std::vector<HtmlCell>> rows = {};
  std::vector<std::size_t> best = {};  // rows that stand out
};
[[nodiscard]] std::string table_html(const HtmlTable& table);

// "93.12 %"; "–" for NaN.
[[nodiscard]] std::string percent_text(double share);
// Four significant digits.
[[nodiscard]] std::string number_text(double value);
// "1.2 s", "3 min 20 s", "2 h 5 min"
[[nodiscard]] std::string duration_text(double seconds);
// "60,000"
[[nodiscard]] std::string count_text(double count);

}  // namespace stoker
