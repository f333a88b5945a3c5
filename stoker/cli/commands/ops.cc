// `stoker ops`: the operations and presets, from their schemas.
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/augment/presets.h"
#include "stoker/augment/registry.h"
#include "stoker/cli/commands/commands.h"

namespace stoker {
namespace {

const char* symmetric_note() { return "One number alone means from minus it to plus it."; }

// "1 to 8, whole, default 4"
std::string range_of(const ParameterSchema& p) {
  std::string text = fmt::format("{} to {}", p.minimum, p.maximum);
  if (p.whole) text += ", whole";
  if (p.default_value) text += fmt::format(", default {}", *p.default_value);
  return text;
}

void print_text() {
  fmt::print("Operations (for --aa, separated by commas; done in order):\n");
  for (const OperationSchema& operation : builtin_operations()) {
    fmt::print("\n  {:<18} {}\n", usage(operation), operation.summary);
    for (const ParameterSchema& p : operation.parameters) {
      fmt::print("    {:<16} {}, {}\n", p.name, p.meaning, range_of(p));
    }
    if (operation.symmetric_range) fmt::print("    {:<16} {}\n", "", symmetric_note());
    fmt::print("    {:<16} {}\n", "example", operation.example);
  }
  fmt::print("\nPresets:\n\n");
  for (const Preset& preset : builtin_presets()) {
    fmt::print("  {:<18} {}\n", preset.name, preset.summary);
    if (!preset.policy.empty()) fmt::print("  {:<18} {}\n", "", preset.policy);
  }
}

void print_markdown() {
  fmt::print(
      "# Operations and presets\n\n"
      "Made by `stoker ops --format markdown`; the descriptions stand beside the code of each "
      "operation.\n");
  for (const OperationSchema& operation : builtin_operations()) {
    fmt::print("\n## `{}`\n\n{}. Example: `{}`.", usage(operation), operation.summary,
               operation.example);
    if (operation.symmetric_range) fmt::print(" {}", symmetric_note());
    if (operation.parameters.empty()) {
      fmt::print("\n");
      continue;
    }
    fmt::print("\n\n| parameter | meaning | range |\n|---|---|---|\n");
    for (const ParameterSchema& p : operation.parameters) {
      fmt::print("| `{}` | {} | {} |\n", p.name, p.meaning, range_of(p));
    }
  }
  fmt::print("\n## Presets\n\n| name | policy | |\n|---|---|---|\n");
  for (const Preset& preset : builtin_presets()) {
    fmt::print("| `{}` | {} | {} |\n", preset.name,
               preset.policy.empty() ? "" : fmt::format("`{}`", preset.policy), preset.summary);
  }
}

void print_json() {
  nlohmann::ordered_json json;
  for (const OperationSchema& operation : builtin_operations()) {
    nlohmann::ordered_json entry = {{"name", operation.name},
                                    {"summary", operation.summary},
                                    {"example", operation.example},
                                    {"parameters", nlohmann::ordered_json::array()}};
    for (const ParameterSchema& p : operation.parameters) {
      nlohmann::ordered_json parameter = {{"name", p.name},
                                          {"meaning", p.meaning},
                                          {"minimum", p.minimum},
                                          {"maximum", p.maximum},
                                          {"whole", p.whole}};
      if (p.default_value) parameter["default"] = *p.default_value;
      entry["parameters"].push_back(std::move(parameter));
    }
    json["operations"].push_back(entry);
  }
  for (const Preset& preset : builtin_presets()) {
    json["presets"].push_back(
        {{"name", preset.name}, {"policy", preset.policy}, {"summary", preset.summary}});
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_ops_command(const Command& parent) {
  const Command command = parent.add_command("ops", "List augmentation operations and presets");
  auto format = std::make_shared<std::string>("text");
  command.add_option("--format", *format, "text, markdown or json")
      .one_of({"text", "markdown", "json"});
  command.on_run([format] {
    if (*format == "markdown") {
      print_markdown();
    } else if (*format == "json") {
      print_json();
    } else {
      print_text();
    }
  });
}

}  // namespace stoker
