#include "stoker/data/sources/table_writer.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/suggest.h"
#include "stoker/data/detail/delimited_table.h"
#include "stoker/data/detail/relative_prefix.h"
#include "stoker/data/detail/table_choice.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using detail::DelimitedTable;

constexpr const char* kSplitName = "split";
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

// A part for a row: a name, the cell as it is, or nothing, which omits the row.
using PartOf = std::function<std::optional<std::string>(const DelimitedTable& table)>;

class TableCopy {
 public:
  TableCopy(const fs::path& out, const fs::path& table, const TableColumns& columns)
      : file_(table),
        table_(file_.text(), detail::delimiter_of(table).value_or(','), table.string()),
        choice_(detail::choose_columns(table_.columns(), columns, false, table_.path())),
        delimiter_(detail::delimiter_of(out).value_or(',')),
        prefix_(detail::relative_prefix(
            out, table.has_parent_path() ? table.parent_path() : fs::path("."))),
        out_(out, "table of images") {}

  [[nodiscard]] const detail::TableChoice& choice() const noexcept { return choice_; }
  [[nodiscard]] const DelimitedTable& table() const noexcept { return table_; }

  // `part` sets the column of parts, which is added where there is none; without it, none is.
  void run(bool sets_parts, const PartOf& part) {
    std::optional<std::size_t> column;
    if (sets_parts) column = choice_.split.value_or(table_.columns().size());
    for (std::size_t i = 0; i < table_.columns().size(); ++i) add_cell(i, table_.columns()[i]);
    if (column == table_.columns().size()) add_cell(*column, kSplitName);
    end_row();
    while (table_.next()) {
      const auto value = part(table_);
      if (!value) continue;
      for (std::size_t i = 0; i < table_.columns().size(); ++i) {
        add_cell(i, column == i ? *value : cell(i));
      }
      if (column == table_.columns().size()) add_cell(*column, *value);
      end_row();
    }
    write();
    out_.commit();
  }

 private:
  [[nodiscard]] std::string cell(std::size_t column) const {
    const std::string_view text = table_.cell(column);
    const bool moves = column == choice_.path && !text.starts_with('/');
    return (moves ? prefix_ : "") + std::string(text);
  }

  void add_cell(std::size_t column, std::string_view text) {
    if (column > 0) text_ += delimiter_;
    text_ += detail::as_cell(text, delimiter_);
  }

  void end_row() {
    // An empty line would be none.
    if (text_.empty() || text_.ends_with('\n')) text_ += "\"\"";
    text_ += '\n';
    if (text_.size() > kPieceBytes) write();
  }

  void write() {
    out_.write(std::as_bytes(std::span(text_)));
    text_.clear();
  }

  FileBytes file_;
  DelimitedTable table_;
  detail::TableChoice choice_;
  char delimiter_;
  std::string prefix_;
  AtomicFile out_;
  std::string text_;  // not yet written
};

void check_split_name(const DelimitedTable& table) {
  const auto taken = std::ranges::find_if(table.columns(), [](const std::string& name) {
    return same_ignoring_case(name, kSplitName);
  });
  if (taken == table.columns().end()) return;
  throw Error({.what = "the table has a column of the name that the parts would get",
               .path = table.path(),
               .expected = fmt::format("no column {}", kSplitName),
               .hint = "Rename the column."});
}

}  // namespace

void write_split_table(const fs::path& out, const fs::path& table, const TableColumns& columns,
                       const std::unordered_map<std::uint32_t, Split>& parts) {
  TableCopy copy(out, table, columns);
  const std::optional<std::size_t> column = copy.choice().split;
  if (!column) check_split_name(copy.table());
  copy.run(true, [&](const DelimitedTable& row) -> std::optional<std::string> {
    const auto part = parts.find(row.line());
    if (part != parts.end()) return name_of(part->second);
    if (column) return std::string(row.cell(*column));
    throw Error({.what = fmt::format("line {} of the table has no part", row.line()),
                 .path = row.path(),
                 .hint = "Was the table changed meanwhile?"});
  });
}

void write_table_rows(const fs::path& out, const fs::path& table, const TableColumns& columns,
                      const std::set<std::uint32_t>& lines) {
  TableCopy copy(out, table, columns);
  copy.run(false, [&](const DelimitedTable& row) -> std::optional<std::string> {
    if (!lines.contains(row.line())) return std::nullopt;
    return "";
  });
}

}  // namespace stoker
