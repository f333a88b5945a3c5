#include "stoker/data/detail/table_choice.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker::detail {
namespace {

using Names = std::span<const std::string>;

// The first of these that the table has is taken.
constexpr std::array<std::string_view, 7> kPathNames = {
    "path", "file", "filename", "image", "image_path", "filepath", "img"};
constexpr std::array<std::string_view, 3> kLabelNames = {"label", "class", "category"};
constexpr std::string_view kNoSplit = "none";

std::string listed(Names names) {
  constexpr std::size_t kShown = 20;
  const std::string more =
      names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  return fmt::format("the columns {}{}",
                     fmt::join(names.first(std::min(names.size(), kShown)), ", "), more);
}

// Places of all columns that are called so; those that differ in case where none is.
std::vector<std::size_t> places_named(Names names, std::string_view wanted) {
  std::vector<std::size_t> exact, similar;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) exact.push_back(i);
    if (same_ignoring_case(names[i], wanted)) similar.push_back(i);
  }
  return exact.empty() ? similar : exact;
}

class Chooser {
 public:
  Chooser(Names names, const TableColumns& columns, const std::string& table)
      : names_(names), columns_(columns), table_(table) {}

  [[nodiscard]] TableChoice choose(bool needs_labels) const {
    check_one_kind();
    TableChoice choice{.path = path(), .split = split()};
    if (!columns_.weight.empty() && (needs_labels || is_there(columns_.weight))) {
      choice.weight = named(columns_.weight, "weight_column");
    }
    if (needs_labels || names_are_there()) choose_labels(choice);
    if (needs_labels && !choice.has_labels()) fail_no_labels();
    check_different(choice);
    return choice;
  }

  [[nodiscard]] std::optional<std::size_t> split() const {
    if (columns_.split == kNoSplit) return std::nullopt;
    if (!columns_.split.empty()) return named(columns_.split, "split_column");
    return by_habit(std::array<std::string_view, 1>{"split"}, "split_column");
  }

 private:
  [[nodiscard]] std::size_t path() const {
    if (!columns_.path.empty()) return named(columns_.path, "path_column");
    return by_habit(kPathNames, "path_column").value_or(0);
  }

  void choose_labels(TableChoice& choice) const {
    for (const std::string& name : columns_.labels) choice.labels.push_back(named(name, "labels"));
    for (const std::string& name : columns_.targets) {
      choice.targets.push_back(named(name, "target"));
    }
    if (choice.has_labels()) return;
    choice.label = columns_.label.empty() ? by_habit(kLabelNames, "label")
                                          : std::optional(named(columns_.label, "label"));
  }

  [[nodiscard]] bool is_there(const std::string& name) const {
    return !places_named(names_, name).empty();
  }

  [[nodiscard]] bool names_are_there() const {
    const auto there = [&](const std::string& name) { return is_there(name); };
    return (columns_.label.empty() || there(columns_.label)) &&
           std::ranges::all_of(columns_.labels, there) &&
           std::ranges::all_of(columns_.targets, there);
  }

  [[nodiscard]] std::size_t named(const std::string& name, const char* option) const {
    const std::vector<std::size_t> places = places_named(names_, name);
    if (places.size() == 1) return places.front();
    if (places.size() > 1) fail_two(name, places);
    throw Error({.what = fmt::format("the table has no column {}", name),
                 .path = table_,
                 .expected = fmt::format("a name of the first line for `{}`", option),
                 .found = listed(names_),
                 .hint = did_you_mean(name, names_)});
  }

  [[nodiscard]] std::optional<std::size_t> by_habit(std::span<const std::string_view> habits,
                                                    const char* option) const {
    for (const std::string_view habit : habits) {
      const std::vector<std::size_t> places = places_named(names_, habit);
      if (places.empty()) continue;
      if (places.size() == 1) return places.front();
      throw Error({.what = fmt::format("two columns of the table are called {}", habit),
                   .path = table_,
                   .found = fmt::format("columns {} and {}", places[0] + 1, places[1] + 1),
                   .hint = fmt::format("Rename one of them, or name another with `{}`.", option)});
    }
    return std::nullopt;
  }

  [[noreturn]] void fail_two(const std::string& name,
                             const std::vector<std::size_t>& places) const {
    throw Error({.what = fmt::format("two columns of the table are called {}", name),
                 .path = table_,
                 .found = fmt::format("columns {} and {}", places[0] + 1, places[1] + 1),
                 .hint = "Rename one of them."});
  }

  [[noreturn]] void fail_no_labels() const {
    throw Error({.what = "it is not clear which column of the table holds the labels",
                 .path = table_,
                 .expected = "a column named label, class or category",
                 .found = listed(names_),
                 .hint = "Name the column of the classes with `label`; columns of 0 and 1, or one "
                         "of lists such as cat;dog, with `labels`; numbers to predict with "
                         "`target`."});
  }

  void check_one_kind() const {
    const int kinds = (columns_.label.empty() ? 0 : 1) + (columns_.labels.empty() ? 0 : 1) +
                      (columns_.targets.empty() ? 0 : 1);
    if (kinds < 2) return;
    throw OptionError({.what = "a table is read for one kind of labels",
                       .expected = "one of `label`, `labels` and `target`",
                       .found = fmt::format("{} of them", kinds)});
  }

  void check_different(const TableChoice& choice) const {
    std::vector<std::size_t> used = {choice.path};
    for (const auto& place : {choice.label, choice.split, choice.weight}) {
      if (place) used.push_back(*place);
    }
    used.insert(used.end(), choice.labels.begin(), choice.labels.end());
    used.insert(used.end(), choice.targets.begin(), choice.targets.end());
    std::ranges::sort(used);
    const auto twice = std::ranges::adjacent_find(used);
    if (twice == used.end()) return;
    throw Error(
        {.what = fmt::format("column {} of the table would be used twice", names_[*twice]),
         .path = table_,
         .expected = "other columns for paths, labels, parts and weights",
         .found = listed(names_),
         .hint = *twice == choice.path ? "Name the column of the paths with `path_column`." : ""});
  }

  Names names_;
  const TableColumns& columns_;
  const std::string& table_;
};

}  // namespace

TableChoice choose_columns(Names names, const TableColumns& columns, bool needs_labels,
                           const std::string& table) {
  return Chooser(names, columns, table).choose(needs_labels);
}

std::optional<std::size_t> choose_split_column(Names names, const TableColumns& columns,
                                               const std::string& table) {
  return Chooser(names, columns, table).split();
}

}  // namespace stoker::detail
