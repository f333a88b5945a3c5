// What the ranks of a run did: who was slow, and what sums over all of them cost.
#include <cmath>

#include <fmt/format.h>

#include "stoker/report/detail/run_sections.h"
#include "stoker/report/html_page.h"

namespace stoker::detail {
namespace {

double value_at(const NumberTable& table, const char* column, std::size_t row) {
  const std::vector<double>* values = table.find(column);
  return values == nullptr ? std::nan("") : (*values)[row];
}

}  // namespace

std::vector<std::vector<std::string>> ranks_rows(const RunReport& run) {
  const NumberTable& ranks = run.ranks;
  if (ranks.rows() == 0) return {};
  std::vector<std::vector<std::string>> rows = {{"epoch", "ranks", "slowest rank", "its seconds",
                                                 "mean seconds", "behind the mean", "MB summed",
                                                 "seconds of sums", "of these waiting"}};
  for (std::size_t r = 0; r < ranks.rows(); ++r) {
    const auto text = [&](const char* column, double scale = 1) {
      return number_text(scale * value_at(ranks, column, r));
    };
    rows.push_back(
        {text("epoch"), text("ranks"), text("slowest"), text("slowest_seconds"),
         text("mean_seconds"),
         percent_text(value_at(ranks, "slowest_seconds", r) / value_at(ranks, "mean_seconds", r) -
                      1),
         text("reduced_bytes", 1e-6), text("reduction_seconds"), text("exposed_seconds")});
  }
  return rows;
}

std::string ranks_section(const RunReport& run) {
  const std::vector<std::vector<std::string>> rows = ranks_rows(run);
  if (rows.empty()) return "";
  HtmlTable table{.label = "Ranks by epoch", .columns = rows.front()};
  for (std::size_t r = 1; r < rows.size(); ++r) {
    std::vector<HtmlCell>& cells = table.rows.emplace_back();
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      cells.push_back(c == 0 ? text_cell(rows[r][c])
                             : number_cell(static_cast<double>(r), rows[r][c]));
    }
  }
  return "<section id=\"ranks\"><h2>Ranks</h2>\n<p class=\"hint\">Seconds until a rank had nothing "
         "left to compute. Sums are those of gradients, as rank 0 saw them; those that overlap "
         "with the computation cost no time.</p>\n" +
         table_html(table) + "</section>\n";
}

}  // namespace stoker::detail
