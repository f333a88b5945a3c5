/// \file
/// A setting: one value that a user may give, described once. Flags, help, YAML files, what a run
/// records, what a checkpoint compares and the page of settings derive from a list of these.
///
///   std::vector<Setting> settings_of(Options& options) {
///     return {{.name = "epochs", .help = "how many", .place = &options.epochs}};
///   }
///
/// A list refers to the values of one object, which must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace stoker {

/// A value with a text of its own: an enumeration, a number or "auto", a size in bytes.
struct SettingText {
  std::function<std::string()> read;
  std::function<void(const std::string&)> write;  ///< throws where the text does not fit
  std::string type = "text";                      ///< for readers
};

/// Where the value is.
using SettingPlace = std::variant<std::string*, bool*, int*, std::int64_t*, std::uint32_t*,
                                  std::uint64_t*, double*, std::vector<double>*, SettingText>;

/// What a setting changes.
enum class SettingScope {
  kResult,   ///< changes what a run computes: a resumed run must have the same
  kRun,      ///< where, how fast, what is written: recorded, and a resumed run may have another
  kProcess,  ///< of one process: not recorded
};

/// Both ends are allowed.
struct SettingRange {
  double least = 0, most = 0;
};

/// The description of one setting.
struct Setting {
  std::string name;  ///< "batch-size"
  std::string help;  ///< one line
  SettingPlace place;
  SettingScope scope = SettingScope::kResult;
  std::vector<std::string> choices = {};  ///< all values; empty: any
  std::optional<SettingRange> range = {};
  char letter = 0;                         ///< of a short flag
  std::string group = {};                  ///< heading in help
  std::vector<std::string> excludes = {};  ///< settings that may not be given with this one
  std::string needs = {};                  ///< a setting that must be given with this one
  int most_values = 1;                     ///< of a list
  bool positional = false;                 ///< may be given without its name
};

/// For SettingText::write: throws an Error that set_texts() gives the setting's name.
[[noreturn]] void refuse_value(std::string expected, std::string found, std::string hint = {});

/// Names and texts of values, in the order of the list they come from.
using SettingValues = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// The value as text; several for a list.
[[nodiscard]] std::vector<std::string> texts_of(const Setting& setting);
/// Throws Error, "`batch_size` does not fit", where the texts do not; then the value is as it was.
void set_texts(const Setting& setting, const std::vector<std::string>& texts);
/// "number from 1 to 4096", "one of a, b", "text"
[[nodiscard]] std::string type_text(const Setting& setting);

/// Of those that `wanted` holds for; all where it is empty.
[[nodiscard]] SettingValues values_of(std::span<const Setting> settings,
                                      const std::function<bool(const Setting&)>& wanted = {});

/// Adds `more` under one heading.
void append_settings(std::vector<Setting>& all, const std::string& group,
                     std::vector<Setting> more);

/// Texts for a value that is one of two.
[[nodiscard]] SettingText either_text(bool& value, const std::string& when_false,
                                      const std::string& when_true);
/// For an enumeration whose values count from 0 in the order of `names`.
template <typename Enum>
[[nodiscard]] SettingText enum_text(Enum& value, std::span<const std::string> names);
/// A number, or "auto", which leaves the number as it is.
[[nodiscard]] SettingText auto_text(bool& is_auto, std::uint32_t& number, SettingRange range);
/// The same for a number with a fraction.
[[nodiscard]] SettingText auto_text(bool& is_auto, double& number, SettingRange range);

namespace detail {
/// The place of `text` in `names`. Throws Error.
[[nodiscard]] std::size_t place_of_choice(const std::string& text,
                                          std::span<const std::string> names);
}  // namespace detail

template <typename Enum>
SettingText enum_text(Enum& value, std::span<const std::string> names) {
  return {.read = [&value, names] { return names[static_cast<std::size_t>(value)]; },
          .write =
              [&value, names](const std::string& text) {
                value = static_cast<Enum>(detail::place_of_choice(text, names));
              }};
}

}  // namespace stoker
