#include "stoker/run/settings_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/core/suggest.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxConfigBytes = 1 << 20;

[[noreturn]] void fail(const fs::path& path, const YAML::Mark& mark, std::string expected,
                       std::string found, std::string hint = {},
                       std::vector<ErrorDetails> causes = {}) {
  throw Error({.what = fmt::format("cannot use the settings in line {}", mark.line + 1),
               .path = path.string(),
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint),
               .causes = std::move(causes)});
}

YAML::Node load(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kMaxConfigBytes) {
    throw Error({.what = "cannot read the settings",
                 .path = path.string(),
                 .expected = "a YAML file of at most 1 MB",
                 .found = error ? error.message() : fmt::format("{} bytes", size)});
  }
  try {
    return YAML::Load(read_text_file(path, "cannot read the settings", kMaxConfigBytes));
  } catch (const YAML::Exception& exception) {
    fail(path, exception.mark, "YAML: a line \"name: value\" for each setting", exception.msg);
  }
}

std::vector<std::string> node_values(const fs::path& path, const std::string& name,
                                     const YAML::Node& node) {
  if (node.IsScalar()) return {node.Scalar()};
  std::vector<std::string> values;
  if (node.IsSequence()) {
    for (const YAML::Node& element : node) {
      if (element.IsScalar()) values.push_back(element.Scalar());
    }
    if (values.size() == node.size()) return values;
  }
  fail(path, node.Mark(), fmt::format("a value, or a list of values, for {}", name),
       node.IsNull() ? "nothing" : "something else");
}

const Setting& find_setting(std::span<const Setting> settings, const fs::path& path,
                            const YAML::Node& key) {
  std::vector<std::string> names;
  for (const Setting& setting : settings) {
    if (setting.name == "config") continue;  // a file names no other file
    if (key.IsScalar() && key.Scalar() == setting.name) return setting;
    names.push_back(setting.name);
  }
  const std::string typed = key.IsScalar() ? key.Scalar() : "";
  fail(path, key.Mark(), "the name of a setting", fmt::format("\"{}\"", typed),
       did_you_mean(typed, names));
}

bool is_plain(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '/';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

// Quoted unless it is surely plain; the quotes keep colons, commas and spaces.
std::string scalar(const std::string& text) {
  if (is_plain(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

bool excludes_one_of(const Setting& setting, const GivenSettings& given) {
  return std::ranges::any_of(setting.excludes,
                             [&](const std::string& name) { return given.contains(name); });
}

// Settings that exclude one of `stronger` are passed over.
void apply(std::span<const Setting> settings, GivenSettings& given, const YAML::Node& root,
           const fs::path& path, const GivenSettings& stronger) {
  if (root.IsNull()) return;
  if (!root.IsMap()) fail(path, root.Mark(), "a line \"name: value\" for each setting", "none");
  for (const auto& entry : root) {
    const Setting& setting = find_setting(settings, path, entry.first);
    if (given.contains(setting.name) || excludes_one_of(setting, stronger)) continue;
    const std::vector<std::string> values = node_values(path, setting.name, entry.second);
    try {
      set_texts(setting, values);
    } catch (const Error& error) {
      const ErrorDetails& details = error.details();
      fail(path, entry.second.Mark(),
           fmt::format("{} for {}", details.expected.empty() ? "a value" : details.expected,
                       setting.name),
           details.found.empty() ? details.what : details.found, details.hint, {details});
    }
    given.insert(setting.name);
  }
}

}  // namespace

void apply_settings_file(std::span<const Setting> settings, GivenSettings& given,
                         const fs::path& path) {
  apply(settings, given, load(path), path, GivenSettings(given));
}

void apply_settings_text(std::span<const Setting> settings, GivenSettings& given,
                         const std::string& text, const std::string& name) {
  apply(settings, given, YAML::Load(text), name, GivenSettings(given));
}

void apply_run_settings(std::span<const Setting> settings, GivenSettings& given,
                        const std::string& text, const std::string& name) {
  if (text.size() > kMaxConfigBytes) {
    throw Error({.what = "cannot read the settings",
                 .path = name,
                 .expected = "YAML of at most 1 MB",
                 .found = fmt::format("{} bytes", text.size())});
  }
  try {
    apply(settings, given, YAML::Load(text), name, {});
  } catch (const YAML::Exception& exception) {
    fail(name, exception.mark, "YAML: a line \"name: value\" for each setting", exception.msg);
  }
}

std::vector<std::pair<std::string, std::string>> read_yaml_pairs(const fs::path& path) {
  const YAML::Node root = load(path);
  std::vector<std::pair<std::string, std::string>> pairs;
  if (root.IsNull()) return pairs;
  if (!root.IsMap()) fail(path, root.Mark(), "a line \"name: value\" for each setting", "none");
  for (const auto& entry : root) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    const auto values = node_values(path, name, entry.second);
    pairs.emplace_back(name, fmt::format("{}", fmt::join(values, ",")));
  }
  return pairs;
}

std::string to_yaml(const SettingValues& values) {
  std::string text;
  for (const auto& [name, list] : values) {
    if (list.size() == 1) {
      text += fmt::format("{}: {}\n", name, scalar(list.front()));
      continue;
    }
    text += name + ": [";
    for (std::size_t i = 0; i < list.size(); ++i) text += (i > 0 ? ", " : "") + scalar(list[i]);
    text += "]\n";
  }
  return text;
}

}  // namespace stoker
