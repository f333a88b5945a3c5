#include "stoker/data/sources/image_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/data/detail/class_numbers.h"
#include "stoker/data/detail/delimited_table.h"
#include "stoker/data/detail/letters.h"
#include "stoker/data/detail/missing_part.h"
#include "stoker/data/detail/table_choice.h"
#include "stoker/data/detail/table_text.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using detail::DelimitedTable;
using detail::TableChoice;

constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kMostClasses = 1'000'000;
constexpr std::array<char, 3> kListSeparators = {';', '|', ','};

// What stands in an error: a whole cell may be long.
std::string shown_cell(std::string_view cell) { return fmt::format("\"{}\"", cell.substr(0, 100)); }

std::optional<Split> split_named(std::string_view cell) {
  const std::string name = detail::lower_case(detail::trimmed(cell));
  if (name == "train") return Split::kTrain;
  if (name == "val" || name == "valid" || name == "validation") return Split::kValidation;
  if (name == "test") return Split::kTest;
  return std::nullopt;
}

Split split_of(const DelimitedTable& table, std::size_t column) {
  if (const auto split = split_named(table.cell(column))) return *split;
  table.fail(column, "train, val (valid, validation) or test", shown_cell(table.cell(column)),
             "Name another column with `split_column`, or pass `split_column` none.");
}

// Nothing for what is neither. Empty is 0, and so pandas writes columns with gaps.
std::optional<bool> flag_in(std::string_view cell) {
  cell = detail::trimmed(cell);
  if (cell == "1" || cell == "1.0") return true;
  if (cell.empty() || cell == "0" || cell == "0.0") return false;
  if (cell.size() > 5) return std::nullopt;
  const std::string word = detail::lower_case(cell);
  if (word == "true" || word == "yes") return true;
  if (word == "false" || word == "no") return false;
  return std::nullopt;
}

float number_of(const DelimitedTable& table, std::size_t column) {
  std::string_view cell = detail::trimmed(table.cell(column));
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto number = detail::number_in<double>(cell);
  const auto value = static_cast<float>(number.value_or(std::nan("")));
  if (std::isfinite(value)) return value;
  table.fail(column, "a finite number, with a point before its fraction",
             cell.empty() ? "an empty cell" : shown_cell(cell));
}

float weight_of(const DelimitedTable& table, std::size_t column) {
  const float weight = number_of(table, column);
  if (weight >= 0) return weight;
  table.fail(column, "a weight of 0 or more", shown_cell(table.cell(column)));
}

void check_class(const DelimitedTable& table, std::size_t column, std::string_view name) {
  if (detail::is_plain_text(name) && name.size() <= kLongestPath) return;
  table.fail(column, "the name of a class, without control characters", shown_cell(name));
}

// A lone column of labels: of 0 and 1, or of lists with this between their names.
struct ListColumn {
  bool is_list = false;
  char separator = ',';
};

// One separator for the whole column, so that names may hold the others.
ListColumn examine_list(std::string_view text, char delimiter, const std::string& path,
                        std::size_t column) {
  DelimitedTable table(text, delimiter, path);
  ListColumn found;
  std::array<bool, kListSeparators.size()> occurs{};
  while (table.next()) {
    const std::string_view cell = table.cell(column);
    found.is_list = found.is_list || !flag_in(cell);
    for (std::size_t i = 0; i < occurs.size(); ++i) {
      occurs[i] = occurs[i] || cell.find(kListSeparators[i]) != std::string_view::npos;
    }
  }
  const auto first = std::ranges::find(occurs, true);
  if (first != occurs.end()) {
    found.separator = kListSeparators[static_cast<std::size_t>(first - occurs.begin())];
  }
  return found;
}

class TableReader {
 public:
  TableReader(const fs::path& path, std::string_view text, Split split, const TableRequest& request)
      : path_(path),
        split_(split),
        request_(request),
        table_(text, detail::delimiter_of(path).value_or(','), path.string()),
        choice_(detail::choose_columns(checked_names(), request.columns, request.needs_labels,
                                       table_.path())) {
    if (choice_.labels.size() == 1) {
      list_ = examine_list(text, detail::delimiter_of(path).value_or(','), table_.path(),
                           choice_.labels.front());
    }
  }

  ImageListing read() {
    listing_.root = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
    listing_.table = path_;
    while (table_.next()) read_row();
    check_found();
    if (!request_.repeated_paths) check_repeats();
    finish_classes();
    return std::move(listing_);
  }

 private:
  // A header that names an image is none.
  [[nodiscard]] const std::vector<std::string>& checked_names() const {
    for (const std::string& name : table_.columns()) {
      if (!has_image_extension(name)) continue;
      throw Error({.what = "cannot read line 1 of a table",
                   .path = path_.string(),
                   .expected = "the names of its columns, such as path and label",
                   .found = shown_cell(name),
                   .hint = "Write a first line such as path,label."});
    }
    return table_.columns();
  }

  // Rows of other parts are checked too: an error does not depend on which part is opened.
  void read_row() {
    const Split split = choice_.split ? split_of(table_, *choice_.split) : Split::kTrain;
    counts_[static_cast<std::size_t>(split)] += 1;
    const bool wanted = split == split_;
    read_path(wanted);
    row_classes_.clear();
    row_numbers_.clear();
    if (choice_.label) read_label(wanted);
    if (list_.is_list) {
      read_list();
    } else {
      read_flags();
    }
    for (const std::size_t column : choice_.targets) {
      row_numbers_.push_back(number_of(table_, column));
    }
    if (choice_.weight) row_numbers_.push_back(weight_of(table_, *choice_.weight));
    if (!wanted) return;
    if (!choice_.labels.empty()) {
      classes_.insert(classes_.end(), row_classes_.begin(), row_classes_.end());
      class_ends_.push_back(classes_.size());
    }
    numbers_.insert(numbers_.end(), row_numbers_.begin(), row_numbers_.end());
  }

  void read_path(bool wanted) {
    const std::string_view path = table_.cell(choice_.path);
    const bool first = rows() == 1;
    if (path.empty() || path.size() > kLongestPath ||
        (first && path.find("://") != std::string_view::npos)) {
      table_.fail(choice_.path, "the path of an image file",
                  path.empty() ? "an empty cell" : shown_cell(path),
                  first ? "Name the column of the paths with `path_column`." : "");
    }
    if (!wanted) return;
    listing_.images.push_back({.path = std::string(path), .line = table_.line()});
    path_digests_.push_back(digest64(std::as_bytes(std::span(path))));
  }

  // Sorting digests takes half the time of a set of paths, which only the message needs.
  void check_repeats() {
    std::ranges::sort(path_digests_);
    if (std::ranges::adjacent_find(path_digests_) == path_digests_.end()) return;
    std::unordered_map<std::string_view, std::uint32_t> line_of_path;
    for (const ListedImage& image : listing_.images) {
      const auto [known, is_new] = line_of_path.emplace(image.path, image.line);
      if (is_new) continue;
      table_.fail_at(image.line, choice_.path, "every image once",
                     fmt::format("{} again, as in line {}", image.path, known->second),
                     "Remove one of the two rows. Several classes of an image are written into "
                     "one row: see `labels`.");
    }
  }

  [[nodiscard]] std::uint64_t rows() const { return counts_[0] + counts_[1] + counts_[2]; }

  std::uint32_t number_of_class(std::size_t column, std::string_view name) {
    check_class(table_, column, name);
    const std::uint32_t number = names_.number(name);
    if (names_.size() <= kMostClasses) return number;
    table_.fail(column, fmt::format("at most {} classes", kMostClasses), "more",
                "Does this column hold classes? Numbers to predict are named with `target`.");
  }

  void read_label(bool wanted) {
    const std::string_view cell = table_.cell(*choice_.label);
    if (cell.empty()) table_.fail(*choice_.label, "a class", "an empty cell");
    const std::uint32_t number = number_of_class(*choice_.label, cell);
    if (wanted) listing_.images.back().label = static_cast<std::int32_t>(number);
  }

  void read_flags() {
    for (std::uint32_t i = 0; i < choice_.labels.size(); ++i) {
      const auto flag = flag_in(table_.cell(choice_.labels[i]));
      if (!flag) {
        table_.fail(choice_.labels[i], "0 or 1, true or false, yes or no, or nothing",
                    shown_cell(table_.cell(choice_.labels[i])),
                    "A column of lists, such as cat;dog, is named alone in `labels`.");
      }
      if (*flag) row_classes_.push_back(i);
    }
  }

  void read_list() {
    const std::size_t column = choice_.labels.front();
    std::string_view rest = table_.cell(column);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(list_.separator), rest.size());
      const std::string_view name = detail::trimmed(rest.substr(0, end));
      if (!name.empty()) row_classes_.push_back(number_of_class(column, name));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void check_found() const {
    if (rows() == 0) {
      throw Error({.what = "a table has no rows",
                   .path = path_.string(),
                   .expected = "a row for each image below the names of the columns"});
    }
    if (!listing_.images.empty()) return;
    const DataParts parts{.validation = counts_[1] > 0, .test = counts_[2] > 0};
    if (split_ != Split::kTrain) detail::fail_missing_part(path_.string(), split_, parts);
    throw Error({.what = "the table has no training part",
                 .path = path_.string(),
                 .expected = fmt::format("rows with train in column {}",
                                         table_.columns()[choice_.split.value_or(0)]),
                 .found = fmt::format("{} of val and {} of test", counts_[1], counts_[2]),
                 .hint = "Choose another `split`, or pass `split_column` none to use all rows."});
  }

  void finish_classes() {
    const detail::ClassNumbers::Sorted sorted = names_.sorted(request_.known_classes);
    if (choice_.label) {
      for (ListedImage& image : listing_.images) {
        image.label =
            static_cast<std::int32_t>(sorted.place[static_cast<std::size_t>(image.label)]);
      }
      listing_.class_names = sorted.names;
    }
    listing_.fields = FieldRows(fields(sorted.names));
    if (listing_.fields.fields().empty()) return;
    const std::size_t width = choice_.targets.size() + (choice_.weight ? 1 : 0);
    std::vector<std::uint32_t> classes;
    for (std::size_t row = 0; row < listing_.images.size(); ++row) {
      classes.clear();
      if (!choice_.labels.empty()) {
        for (std::uint64_t i = row == 0 ? 0 : class_ends_[row - 1]; i < class_ends_[row]; ++i) {
          classes.push_back(list_.is_list ? sorted.place[classes_[i]] : classes_[i]);
        }
      }
      std::ranges::sort(classes);
      classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
      listing_.fields.add(classes, std::span(numbers_).subspan(row * width, width));
    }
  }

  [[nodiscard]] std::vector<FieldInfo> fields(const std::vector<std::string>& names) const {
    const auto names_of = [&](const std::vector<std::size_t>& columns) {
      std::vector<std::string> found;
      for (const std::size_t column : columns) found.push_back(table_.columns()[column]);
      return found;
    };
    std::vector<FieldInfo> fields;
    if (!choice_.labels.empty()) {
      fields.push_back(
          {std::string(kClassesField), list_.is_list ? names : names_of(choice_.labels)});
    }
    if (!choice_.targets.empty()) {
      fields.push_back({std::string(kTargetField), names_of(choice_.targets)});
    }
    if (choice_.weight) fields.push_back({std::string(kWeightField), names_of({*choice_.weight})});
    return fields;
  }

  const fs::path& path_;
  Split split_;
  const TableRequest& request_;
  DelimitedTable table_;
  TableChoice choice_;
  ListColumn list_;
  ImageListing listing_;
  std::vector<std::uint64_t> path_digests_;
  detail::ClassNumbers names_;
  std::array<std::uint64_t, 3> counts_{};             // rows of each part
  std::vector<std::uint32_t> row_classes_, classes_;  // of one row; of all that are wanted
  std::vector<std::uint64_t> class_ends_;
  std::vector<float> row_numbers_, numbers_;
};

}  // namespace

bool is_image_table(const fs::path& path) {
  std::error_code ignored;
  if (!detail::delimiter_of(path) || !fs::is_regular_file(path, ignored)) return false;
  const FileBytes file(path);
  std::string_view rest = file.text();
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  std::string_view line;
  do {
    line = detail::take_line(rest);
  } while ((line.starts_with('#') || line.empty()) && !rest.empty());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return !has_image_extension(line.substr(0, line.find('\t')));
}

ImageListing read_image_table(const fs::path& path, Split split, const TableRequest& request) {
  const FileBytes file(path);
  return parse_image_table(file.text(), path, split, request);
}

ImageListing parse_image_table(std::string_view text, const fs::path& path, Split split,
                               const TableRequest& request) {
  return TableReader(path, text, split, request).read();
}

DataParts table_parts(const fs::path& path, const TableColumns& columns) {
  const FileBytes file(path);
  DelimitedTable table(file.text(), detail::delimiter_of(path).value_or(','), path.string());
  const auto column = detail::choose_split_column(table.columns(), columns, table.path());
  DataParts parts;
  while (column && table.next()) {
    const Split split = split_of(table, *column);
    parts.validation = parts.validation || split == Split::kValidation;
    parts.test = parts.test || split == Split::kTest;
  }
  return parts;
}

}  // namespace stoker
