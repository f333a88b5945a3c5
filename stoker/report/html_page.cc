#include "stoker/report/html_page.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "stoker/report/html.h"
#include "stoker/report/report_assets.h"

namespace stoker {
namespace {

int digit_of(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string script_hash() {
  const std::string_view hex = report_script_sha256();
  std::array<std::byte, 32> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(digit_of(hex[2 * i]) << 4 | digit_of(hex[2 * i + 1]));
  }
  return base64(bytes);
}

std::string cell_html(const HtmlCell& cell, bool first) {
  const std::string sort = cell.numeric ? fmt::format(" data-v=\"{}\"", cell.sort_by) : "";
  const std::string style =
      cell.style.empty() ? "" : fmt::format(" class=\"{}\"", escape_html(cell.style));
  const char* tag = first ? "th" : "td";
  return fmt::format("<{0}{1}{2}{3}>{4}</{0}>", tag, first ? " scope=\"row\"" : "", sort, style,
                     escape_html(cell.text));
}

}  // namespace

std::string page_head(std::string_view title) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'sha256-{}'\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      script_hash(), escape_html(title), report_style());
}

std::string page_end() {
  return fmt::format("<script>{}</script>\n</body>\n</html>\n", report_script());
}

std::string tile(std::string_view value, std::string_view label) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", escape_html(value),
                     escape_html(label));
}

std::string image_html(const ReportImage& image, std::string_view description) {
  constexpr int kSmall = 64;  // shown with its pixels as squares
  return fmt::format(
      "<img{} width=\"{}\" height=\"{}\" alt=\"{}\" src=\"data:image/{};base64,{}\">",
      std::max(image.width, image.height) <= kSmall ? " class=\"small\"" : "", image.width,
      image.height, escape_html(description), escape_html(image.type), escape_html(image.data));
}

std::string facts_html(const NamedValues& values) {
  std::string out = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : values) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name),
                       value.empty() ? "–" : escape_html(value));
  }
  return out + "</dl>\n";
}

HtmlCell number_cell(double value, std::string text) {
  return {.text = std::move(text), .sort_by = value, .numeric = true};
}

HtmlCell text_cell(std::string text) { return {.text = std::move(text), .style = "text"}; }

std::string table_html(const HtmlTable& table) {
  std::string out = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">"
      "<table class=\"data sortable\" aria-label=\"{0}\"><thead><tr>",
      escape_html(table.label));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool text = !table.rows.empty() && table.rows[0][c].style == "text";
    out += fmt::format("<th scope=\"col\"{}>{}</th>", text ? " class=\"text\"" : "",
                       escape_html(table.columns[c]));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const bool best = std::ranges::find(table.best, r) != table.best.end();
    out += best ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
      out += cell_html(table.rows[r][c], c == 0);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string percent_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f} %", 100 * share) : "–";
}

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "–";
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::int64_t{std::llround(std::min(seconds, 1e15))};
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string count_text(double count) {
  if (!std::isfinite(count) || std::abs(count) > 1e15) return number_text(count);
  std::string digits = fmt::format("{:.0f}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0);
       at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

}  // namespace stoker
