// Tables with a header, as RFC 4180 describes them: records of cells with commas or tabs between
// them. A cell in quotes may hold delimiters, line breaks and doubled quotes. Lines end with LF or
// CRLF, the last one also without; empty lines are passed over. UTF-8, with or without a byte order
// mark. Tables are not trusted: what is no such text is an Error with its line and column.
//
// One thread. Costs one pass over the text. A cell is a view of the text; only one with doubled
// quotes is copied, into memory that is used again for the next record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"

namespace stoker::detail {

// ',' for .csv and '\t' for .tsv, in letters of any case; nothing for another name.
[[nodiscard]] std::optional<char> delimiter_of(const std::filesystem::path& path);

// Without spaces at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

class DelimitedTable {
 public:
  // Reads the header. The text must outlive the table; `path` is for messages. Throws Error.
  DelimitedTable(std::string_view text, char delimiter, std::string path);

  // The header's names, without spaces around them. They may be empty or repeat.
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // Reads the next record; false at the end. Throws Error where it has another number of cells than
  // the header, or is no such text.
  [[nodiscard]] bool next();
  // Of the record; valid until next() is called again. The column must exist.
  [[nodiscard]] std::string_view cell(std::size_t column) const { return cells_[column]; }
  // Where the record begins, counted from 1.
  [[nodiscard]] std::uint32_t line() const noexcept { return record_line_; }

  // Throws Error about a cell of the record, with its line and column.
  [[noreturn]] void fail(std::size_t column, std::string expected, std::string found,
                         std::string hint = {}) const;
  // The same about an earlier record.
  [[noreturn]] void fail_at(std::uint32_t line, std::size_t column, std::string expected,
                            std::string found, std::string hint = {}) const;

 private:
  void check_encoding() const;
  void read_header();
  [[nodiscard]] bool read_record();
  void check_room() const;
  void read_quoted();
  void read_plain();
  [[nodiscard]] bool end_cell();
  void skip_line_end();
  void add_line();
  void check_width() const;
  [[noreturn]] void fail_here(std::string expected, std::string found, std::string hint) const;
  [[nodiscard]] std::string column_text(std::size_t column) const;

  // A cell as it is put together: of the text, or of `unescaped_`.
  struct Piece {
    std::size_t begin = 0, length = 0;
    bool copied = false;
  };

  std::string_view text_;
  char delimiter_;
  std::string path_;
  std::size_t at_ = 0;      // the next byte
  std::uint32_t line_ = 1;  // of the next byte
  std::uint32_t record_line_ = 1;
  std::vector<std::string> columns_;
  std::vector<Piece> pieces_;
  std::string unescaped_;  // cells of the record with doubled quotes
  std::vector<std::string_view> cells_;
};

// The cells of one record, such as names of columns that a setting lists. Throws Error.
[[nodiscard]] std::vector<std::string> cells_of(const std::string& record, char delimiter = ',');

// As the cell of a record: in quotes where it needs them.
[[nodiscard]] std::string as_cell(std::string_view text, char delimiter = ',');

}  // namespace stoker::detail
