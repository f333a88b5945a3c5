// `stoker settings`: every setting of a training run, from the list that flags and files derive
// from.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "stoker/cli/commands/commands.h"
#include "stoker/run/run_settings.h"

namespace stoker {
namespace {

std::string default_of(const Setting& setting) {
  return fmt::format("{}", fmt::join(texts_of(setting), ", "));
}

// A bar would end the cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

// Those of one heading together; args.yaml keeps the order of the list.
std::vector<Setting> by_group(const std::vector<Setting>& settings) {
  std::vector<std::string> groups;
  for (const Setting& setting : settings) {
    if (std::ranges::find(groups, setting.group) == groups.end()) groups.push_back(setting.group);
  }
  std::vector<Setting> sorted;
  for (const std::string& group : groups) {
    std::ranges::copy_if(settings, std::back_inserter(sorted),
                         [&](const Setting& setting) { return setting.group == group; });
  }
  return sorted;
}

void print_text(const std::vector<Setting>& settings) {
  std::string group;
  for (const Setting& setting : settings) {
    if (setting.group != group) fmt::print("\n{}\n", group = setting.group);
    fmt::print("  {:20} {:24} {}\n", setting.name, default_of(setting), type_text(setting));
  }
}

void print_markdown(const std::vector<Setting>& settings) {
  fmt::print(
      "# Settings of a training run\n\nMade by `stoker settings --format markdown`. Each is a flag "
      "of `stoker train` (`--name`), a line of a\n`--config` file (`name: value`), and a line of a "
      "run's `args.yaml`. A run is resumed with the same value\nwhere the last column says "
      "\"result\"; others may change. Settings \"of the process\" are not recorded.\n");
  std::string group;
  for (const Setting& setting : settings) {
    if (setting.group != group) {
      fmt::print(
          "\n## {}\n\n| name | default | values | meaning | affects |\n|---|---|---|---|---|\n",
          group = setting.group);
    }
    const char* affects = setting.scope == SettingScope::kResult ? "result"
                          : setting.scope == SettingScope::kRun  ? "the run's pace or files"
                                                                 : "the process";
    const std::string value = default_of(setting);
    fmt::print("| `{}` | {} | {} | {} | {} |\n", setting.name,
               value.empty() ? "" : fmt::format("`{}`", value), cell(type_text(setting)),
               cell(setting.help), affects);
  }
}

void print_json(const std::vector<Setting>& settings) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Setting& setting : settings) {
    nlohmann::ordered_json entry = {{"name", setting.name},
                                    {"group", setting.group},
                                    {"default", default_of(setting)},
                                    {"values", type_text(setting)},
                                    {"help", setting.help},
                                    {"affects_result", setting.scope == SettingScope::kResult}};
    if (setting.range) entry["range"] = {setting.range->least, setting.range->most};
    if (!setting.choices.empty()) entry["choices"] = setting.choices;
    all.push_back(std::move(entry));
  }
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_settings_command(const Command& parent) {
  const Command command = parent.add_command("settings", "List the settings of a training run");
  auto format = std::make_shared<std::string>("text");
  command.add_option("--format", *format, "text, markdown or json")
      .one_of({"text", "markdown", "json"});
  command.on_run([format] {
    RunSettings defaults;
    const std::vector<Setting> sorted = by_group(settings_of(defaults));
    if (*format == "markdown") {
      print_markdown(sorted);
    } else if (*format == "json") {
      print_json(sorted);
    } else {
      print_text(sorted);
    }
  });
}

}  // namespace stoker
