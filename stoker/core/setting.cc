#include "stoker/core/setting.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker {
namespace {

// What refuse_value() throws; set_texts() puts the setting's name into its message.
class ValueMisfit : public OptionError {
 public:
  using OptionError::OptionError;
};

// As texts of errors name it.
std::string option_name(const Setting& setting) {
  std::string name = setting.name;
  std::ranges::replace(name, '-', '_');
  return fmt::format("`{}`", name);
}

template <typename T>
concept Number = std::integral<T> || std::floating_point<T>;

std::string expected_number(const std::optional<SettingRange>& range, bool whole) {
  const char* kind = whole ? "a whole number" : "a number";
  return range ? fmt::format("{} from {} to {}", kind, range->least, range->most) : kind;
}

// Throws Error unless all of the text is a number in the range.
template <Number T>
T number_of(const std::string& text, const std::optional<SettingRange>& range,
            const char* suffix = "") {
  T number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const auto value = static_cast<double>(number);
  const bool fits = !range || (value >= range->least && value <= range->most);
  if (read.ec == std::errc{} && read.ptr == end && fits) return number;
  refuse_value(expected_number(range, std::integral<T>) + suffix, fmt::format("\"{}\"", text));
}

bool switch_of(const std::string& text) {
  for (const char* yes : {"true", "on", "yes", "1"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"false", "off", "no", "0"}) {
    if (text == no) return false;
  }
  refuse_value("true or false", fmt::format("\"{}\"", text));
}

std::vector<double> numbers_of(const std::vector<std::string>& texts, const Setting& setting) {
  std::vector<double> numbers;
  for (const std::string& text : texts) numbers.push_back(number_of<double>(text, setting.range));
  return numbers;
}

void set_one(const Setting& setting, const std::string& given) {
  // In the spelling of the list, whatever the case it was typed in.
  const std::string text = setting.choices.empty()
                               ? given
                               : setting.choices[detail::place_of_choice(given, setting.choices)];
  std::visit(
      [&](const auto& place) {
        using Place = std::remove_cvref_t<decltype(place)>;
        if constexpr (std::same_as<Place, SettingText>) {
          place.write(text);
        } else if constexpr (std::same_as<Place, std::string*>) {
          *place = text;
        } else if constexpr (std::same_as<Place, bool*>) {
          *place = switch_of(text);
        } else if constexpr (std::same_as<Place, std::vector<double>*>) {
          *place = numbers_of({text}, setting);
        } else {
          *place = number_of<std::remove_pointer_t<Place>>(text, setting.range);
        }
      },
      setting.place);
}

void write_texts(const Setting& setting, const std::vector<std::string>& texts) {
  const bool is_list = std::holds_alternative<std::vector<double>*>(setting.place);
  const std::size_t most = is_list ? static_cast<std::size_t>(setting.most_values) : 1;
  if (texts.empty() || texts.size() > most) {
    refuse_value(most == 1 ? "one value" : fmt::format("1 to {} values", most),
                 fmt::format("{}", texts.size()));
  }
  if (is_list) {
    auto& numbers = *std::get<std::vector<double>*>(setting.place);
    const bool is_empty = texts.size() == 1 && texts.front().empty();
    numbers = is_empty ? std::vector<double>{} : numbers_of(texts, setting);
  } else {
    set_one(setting, texts.front());
  }
}

template <Number T>
SettingText auto_number(bool& is_auto, T& number, SettingRange range) {
  return {.read = [&] { return is_auto ? "auto" : fmt::format("{}", number); },
          .write =
              [&is_auto, &number, range](const std::string& text) {
                if (text != "auto") number = number_of<T>(text, range, ", or auto");
                is_auto = text == "auto";
              },
          .type = expected_number(range, std::integral<T>).substr(2) + ", or auto"};
}

}  // namespace

std::vector<std::string> texts_of(const Setting& setting) {
  return std::visit(
      [](const auto& place) -> std::vector<std::string> {
        using Place = std::remove_cvref_t<decltype(place)>;
        if constexpr (std::same_as<Place, SettingText>) {
          return {place.read()};
        } else if constexpr (std::same_as<Place, std::vector<double>*>) {
          if (place->empty()) return {""};  // not given
          std::vector<std::string> texts;
          for (const double number : *place) texts.push_back(fmt::format("{}", number));
          return texts;
        } else {
          return {fmt::format("{}", *place)};
        }
      },
      setting.place);
}

void refuse_value(std::string expected, std::string found, std::string hint) {
  throw ValueMisfit({.what = "the value does not fit",
                     .expected = std::move(expected),
                     .found = std::move(found),
                     .hint = std::move(hint)});
}

void set_texts(const Setting& setting, const std::vector<std::string>& texts) {
  try {
    write_texts(setting, texts);
  } catch (const ValueMisfit& misfit) {
    ErrorDetails details = misfit.details();
    details.what = fmt::format("{} does not fit", option_name(setting));
    throw ValueMisfit(std::move(details));
  }
}

std::string type_text(const Setting& setting) {
  if (!setting.choices.empty()) return fmt::format("{}", fmt::join(setting.choices, ", "));
  return std::visit(
      [&](const auto& place) -> std::string {
        using Place = std::remove_cvref_t<decltype(place)>;
        if constexpr (std::same_as<Place, bool*>) {
          return "switch";
        } else if constexpr (std::same_as<Place, SettingText>) {
          return place.type;
        } else if constexpr (std::same_as<Place, std::string*>) {
          return "text";
        } else if constexpr (std::same_as<Place, std::vector<double>*>) {
          return fmt::format("1 to {} numbers", setting.most_values);
        } else {
          return expected_number(setting.range, std::integral<std::remove_pointer_t<Place>>)
              .substr(2);
        }
      },
      setting.place);
}

SettingValues values_of(std::span<const Setting> settings,
                        const std::function<bool(const Setting&)>& wanted) {
  SettingValues values;
  for (const Setting& setting : settings) {
    if (!wanted || wanted(setting)) values.emplace_back(setting.name, texts_of(setting));
  }
  return values;
}

void append_settings(std::vector<Setting>& all, const std::string& group,
                     std::vector<Setting> more) {
  for (Setting& setting : more) {
    setting.group = group;
    all.push_back(std::move(setting));
  }
}

SettingText either_text(bool& value, const std::string& when_false, const std::string& when_true) {
  return {.read = [&value, when_false, when_true] { return value ? when_true : when_false; },
          .write =
              [&value, when_false, when_true](const std::string& text) {
                value = detail::place_of_choice(text, std::vector{when_false, when_true}) == 1;
              }};
}

SettingText auto_text(bool& is_auto, std::uint32_t& number, SettingRange range) {
  return auto_number(is_auto, number, range);
}

SettingText auto_text(bool& is_auto, double& number, SettingRange range) {
  return auto_number(is_auto, number, range);
}

std::size_t detail::place_of_choice(const std::string& text, std::span<const std::string> names) {
  const auto found = std::ranges::find_if(
      names, [&](const std::string& name) { return same_ignoring_case(name, text); });
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  refuse_value(fmt::format("{}", fmt::join(names, ", ")), fmt::format("\"{}\"", text),
               did_you_mean(text, names));
}

}  // namespace stoker
