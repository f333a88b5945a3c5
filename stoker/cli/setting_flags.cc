#include "stoker/cli/setting_flags.h"

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <type_traits>

#include <fmt/format.h>

namespace stoker {
namespace {

std::string flag_names(const Setting& setting) {
  std::string names = "--" + setting.name;
  if (setting.positional) names = fmt::format("{},{}", setting.name, names);
  if (setting.letter != 0) names = fmt::format("-{},{}", setting.letter, names);
  // What is on by default can be turned off.
  const bool* const* value = std::get_if<bool*>(&setting.place);
  if (value != nullptr && **value) names += ",!--no-" + setting.name;
  return names;
}

Flag add_setting(const Command& command, const Setting& setting) {
  const std::string names = flag_names(setting);
  return std::visit(
      [&](const auto& place) {
        using Place = std::remove_cvref_t<decltype(place)>;
        if constexpr (std::same_as<Place, SettingText>) {
          const std::function<void(const std::string&)> write = [setting](const std::string& text) {
            set_texts(setting, {text});
          };
          return command.add_option(names, write, setting.help).default_text(place.read());
        } else if constexpr (std::same_as<Place, bool*>) {
          const Flag flag = command.add_flag(names, *place, setting.help);
          return *place ? flag.default_text("true") : flag;
        } else if constexpr (std::same_as<Place, std::vector<double>*>) {
          return command.add_option(names, *place, setting.help).values(1, setting.most_values);
        } else {
          const Flag flag = command.add_option(names, *place, setting.help);
          if constexpr (std::integral<std::remove_pointer_t<Place>>) {
            if (setting.range) {
              return flag.between(static_cast<std::int64_t>(setting.range->least),
                                  static_cast<std::int64_t>(setting.range->most));
            }
          } else if constexpr (std::floating_point<std::remove_pointer_t<Place>>) {
            if (setting.range) return flag.between(setting.range->least, setting.range->most);
          }
          return flag;
        }
      },
      setting.place);
}

}  // namespace

void add_settings(const Command& command, std::span<const Setting> settings) {
  std::map<std::string, Flag> flags;
  for (const Setting& setting : settings) {
    const Flag flag = add_setting(command, setting);
    if (!setting.choices.empty()) flag.one_of(setting.choices);
    if (!setting.group.empty()) flag.group(setting.group);
    flags.emplace(setting.name, flag);
  }
  for (const Setting& setting : settings) {
    for (const std::string& other : setting.excludes) {
      flags.at(setting.name).excludes(flags.at(other));
    }
    if (!setting.needs.empty()) flags.at(setting.name).needs(flags.at(setting.needs));
  }
}

std::set<std::string> given_settings(const Command& command, std::span<const Setting> settings) {
  std::set<std::string> given;
  for (const Flag& flag : command.flags()) {
    const std::string name = flag.long_name();
    if (flag.is_given() && std::ranges::find(settings, name, &Setting::name) != settings.end()) {
      given.insert(name);
    }
  }
  return given;
}

}  // namespace stoker
