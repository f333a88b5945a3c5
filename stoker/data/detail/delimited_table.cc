#include "stoker/data/detail/delimited_table.h"

#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "stoker/data/detail/letters.h"

namespace stoker::detail {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF"sv;
constexpr std::size_t kMostColumns = 65'536;  // held against memory: 16 bytes a cell
constexpr const char* kUtf8Hint =
    "Save it as UTF-8, e.g. with iconv -f UTF-16 -t UTF-8 old.csv > new.csv";

// Bytes at which a cell without quotes may end, or which it may not hold.
constexpr std::array<bool, 256> stops_of(char delimiter) {
  std::array<bool, 256> stops{};
  for (const char c : {delimiter, '\n', '\r', '"', '\0'})
    stops[static_cast<unsigned char>(c)] = true;
  return stops;
}
constexpr std::array<bool, 256> kCommaStops = stops_of(','), kTabStops = stops_of('\t');

std::string delimiter_name(char delimiter) { return delimiter == '\t' ? "tab" : "comma"; }

}  // namespace

std::optional<char> delimiter_of(const std::filesystem::path& path) {
  const std::string extension = lower_case(path.extension().string());
  if (extension == ".csv") return ',';
  if (extension == ".tsv") return '\t';
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

DelimitedTable::DelimitedTable(std::string_view text, char delimiter, std::string path)
    : text_(text), delimiter_(delimiter), path_(std::move(path)) {
  check_encoding();
  if (text_.starts_with(kUtf8Mark)) at_ = kUtf8Mark.size();
  read_header();
}

void DelimitedTable::check_encoding() const {
  if (!text_.starts_with("\xFF\xFE"sv) && !text_.starts_with("\xFE\xFF"sv)) return;
  throw Error({.what = "cannot read line 1, column 1 of a table",
               .path = path_,
               .offset = 0,
               .expected = "UTF-8 text",
               .found = "UTF-16",
               .hint = kUtf8Hint});
}

void DelimitedTable::read_header() {
  if (!read_record()) {
    throw Error({.what = "a table is empty",
                 .path = path_,
                 .expected = "a first line with the names of its columns",
                 .found = "none"});
  }
  for (const std::string_view name : cells_) columns_.emplace_back(trimmed(name));
}

bool DelimitedTable::next() {
  if (!read_record()) return false;
  check_width();
  return true;
}

// Passes over empty lines. A quoted cell makes a line that is not empty.
bool DelimitedTable::read_record() {
  while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) skip_line_end();
  record_line_ = line_;
  pieces_.clear();
  unescaped_.clear();
  if (at_ == text_.size()) return false;
  do {
    check_room();
    if (at_ < text_.size() && text_[at_] == '"') {
      read_quoted();
    } else {
      read_plain();
    }
  } while (!end_cell());
  cells_.clear();
  for (const Piece& piece : pieces_) {
    const std::string_view from = piece.copied ? std::string_view(unescaped_) : text_;
    cells_.push_back(from.substr(piece.begin, piece.length));
  }
  return true;
}

// For one cell more.
void DelimitedTable::check_room() const {
  if (columns_.empty() && pieces_.size() == kMostColumns) {
    fail_here(fmt::format("at most {} columns", kMostColumns), "more", "");
  }
  if (columns_.empty() || pieces_.size() < columns_.size()) return;
  fail_here(fmt::format("{} cells, as in the header", columns_.size()), "more",
            fmt::format("Put cells that hold a {} in quotes.", delimiter_name(delimiter_)));
}

void DelimitedTable::read_plain() {
  const std::array<bool, 256>& stops = delimiter_ == ',' ? kCommaStops : kTabStops;
  const std::size_t begin = at_;
  while (at_ < text_.size() && !stops[static_cast<unsigned char>(text_[at_])]) ++at_;
  pieces_.push_back({.begin = begin, .length = at_ - begin});
}

// At the quote that opens. A doubled quote makes a copy of the cell.
void DelimitedTable::read_quoted() {
  const std::uint32_t opened_in = line_;
  Piece piece{.begin = ++at_};
  while (true) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\0') {
      if (text_[at_] == '\n') add_line();
      ++at_;
    }
    if (at_ == text_.size()) {
      fail_here("a quote that ends the cell",
                fmt::format("the end of the table, after the quote "
                            "in line {}",
                            opened_in),
                "Write quotes inside a cell twice.");
    }
    if (text_[at_] == '\0') fail_here("text", "a zero byte", kUtf8Hint);
    const bool doubled = at_ + 1 < text_.size() && text_[at_ + 1] == '"';
    if (doubled && !piece.copied) {
      piece = {.begin = unescaped_.size(), .copied = true};
    }
    if (piece.copied) unescaped_.append(text_.substr(begin, at_ - begin + (doubled ? 1 : 0)));
    at_ += doubled ? 2 : 1;
    if (doubled) continue;
    piece.length = piece.copied ? unescaped_.size() - piece.begin : at_ - 1 - piece.begin;
    pieces_.push_back(piece);
    return;
  }
}

// Whether the record ends with the cell too.
bool DelimitedTable::end_cell() {
  if (at_ == text_.size()) return true;
  const char stop = text_[at_];
  if (stop == delimiter_) {
    ++at_;
    return false;
  }
  if (stop == '\n' || stop == '\r') {
    skip_line_end();
    return true;
  }
  pieces_.pop_back();  // the message counts the cell under way
  if (stop == '\0') fail_here("text", "a zero byte", kUtf8Hint);
  if (stop == '"') {
    fail_here(fmt::format("a {} or the end of the line", delimiter_name(delimiter_)),
              "a quote inside a cell",
              "Put the whole cell in quotes, without spaces before them, and write those inside it "
              "twice: \"5\"\" disk\".");
  }
  fail_here(fmt::format("a {} or the end of the line after the quote", delimiter_name(delimiter_)),
            "more text", "Write quotes inside a cell twice.");
}

void DelimitedTable::skip_line_end() {
  if (text_[at_] == '\r') {
    if (at_ + 1 == text_.size() || text_[at_ + 1] != '\n') {
      fail_here("lines that end with LF or CRLF", "a carriage return alone",
                "Convert the line ends, e.g. with tr '\\r' '\\n'.");
    }
    ++at_;
  }
  ++at_;
  add_line();
}

void DelimitedTable::add_line() {
  if (line_ == std::numeric_limits<std::uint32_t>::max()) {
    fail_here("fewer than 2^32 lines", "more", "Divide the table.");
  }
  ++line_;
}

void DelimitedTable::check_width() const {
  if (cells_.size() == columns_.size()) return;
  fail(cells_.size() - 1, fmt::format("{} cells, as in the header", columns_.size()),
       fmt::format("{}", cells_.size()),
       fmt::format("Write a {} between two cells, also for empty ones.",
                   delimiter_name(delimiter_)));
}

std::string DelimitedTable::column_text(std::size_t column) const {
  const bool named = column < columns_.size() && !columns_[column].empty();
  return named ? fmt::format("column {} ({})", column + 1, columns_[column])
               : fmt::format("column {}", column + 1);
}

void DelimitedTable::fail_here(std::string expected, std::string found, std::string hint) const {
  throw Error({.what = fmt::format("cannot read line {}, {} of a table", line_,
                                   column_text(pieces_.size())),
               .path = path_,
               .offset = at_,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

void DelimitedTable::fail(std::size_t column, std::string expected, std::string found,
                          std::string hint) const {
  fail_at(record_line_, column, std::move(expected), std::move(found), std::move(hint));
}

void DelimitedTable::fail_at(std::uint32_t line, std::size_t column, std::string expected,
                             std::string found, std::string hint) const {
  throw Error({.what = fmt::format("cannot read line {}, {} of a table", line, column_text(column)),
               .path = path_,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
}

std::vector<std::string> cells_of(const std::string& record, char delimiter) {
  return record.empty() ? std::vector<std::string>{}
                        : DelimitedTable(record, delimiter, record).columns();
}

std::string as_cell(std::string_view text, char delimiter) {
  const bool plain = text.find_first_of("\"\r\n") == std::string_view::npos &&
                     text.find(delimiter) == std::string_view::npos && trimmed(text) == text &&
                     !text.starts_with(kUtf8Mark);
  if (plain) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

}  // namespace stoker::detail
