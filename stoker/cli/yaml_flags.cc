#include "stoker/cli/yaml_flags.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "stoker/core/error.h"
#include "stoker/core/suggest.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxConfigBytes = 1 << 20;

[[noreturn]] void fail(const fs::path& path, const YAML::Mark& mark, std::string expected,
                       std::string found, std::string hint = {}) {
  throw Error({.what = fmt::format("cannot use the settings in line {}", mark.line + 1),
               .path = path.string(),
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = std::move(hint)});
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
    return YAML::LoadFile(path.string());
  } catch (const YAML::Exception& exception) {
    fail(path, exception.mark, "YAML: a line \"name: value\" for each flag", exception.msg);
  }
}

std::vector<std::string> values_of(const fs::path& path, const std::string& name,
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

Flag find_flag(const Command& command, const fs::path& path, const YAML::Node& key) {
  std::vector<std::string> names;
  for (const Flag& flag : command.flags()) {
    const std::string name = flag.long_name();
    if (name.empty() || name == "help" || name == "config") continue;
    if (key.IsScalar() && key.Scalar() == name) return flag;
    names.push_back(name);
  }
  const std::string typed = key.IsScalar() ? key.Scalar() : "";
  fail(path, key.Mark(), fmt::format("a flag of `stoker {}`", command.name()),
       fmt::format("\"{}\"", typed), did_you_mean(typed, names));
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

std::vector<std::string> current_values(const Flag& flag) {
  return flag.is_given() ? flag.given_values() : flag.default_values();
}

std::vector<std::string>& entry_of(FlagValues& values, const std::string& name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  STOKER_INVARIANT(found != values.end(), "there is no flag --{}", name);
  return found->second;
}

std::vector<Flag> given_flags(const Command& command) {
  std::vector<Flag> given = command.flags();
  std::erase_if(given, [](const Flag& flag) { return !flag.is_given(); });
  return given;
}

// Flags that exclude one of `stronger` are passed over.
void apply(const Command& command, const YAML::Node& root, const fs::path& path,
           const std::vector<Flag>& stronger) {
  if (root.IsNull()) return;
  if (!root.IsMap()) fail(path, root.Mark(), "a line \"name: value\" for each flag", "none");
  for (const auto& entry : root) {
    const Flag flag = find_flag(command, path, entry.first);
    if (flag.is_given() || flag.excludes_one_of(stronger)) continue;
    try {
      flag.set(values_of(path, flag.long_name(), entry.second));
    } catch (const UsageError& error) {
      fail(path, entry.second.Mark(), "a value that fits", error.what());
    }
  }
}

}  // namespace

void apply_yaml(const Command& command, const fs::path& path) {
  apply(command, load(path), path, given_flags(command));
}

void apply_yaml_text(const Command& command, const std::string& text, const std::string& name) {
  apply(command, YAML::Load(text), name, given_flags(command));
}

void apply_run_yaml(const Command& command, const std::string& text, const std::string& name) {
  if (text.size() > kMaxConfigBytes) {
    throw Error({.what = "cannot read the settings",
                 .path = name,
                 .expected = "YAML of at most 1 MB",
                 .found = fmt::format("{} bytes", text.size())});
  }
  try {
    apply(command, YAML::Load(text), name, {});
  } catch (const YAML::Exception& exception) {
    fail(name, exception.mark, "YAML: a line \"name: value\" for each flag", exception.msg);
  }
}

std::vector<std::pair<std::string, std::string>> read_yaml_pairs(const fs::path& path) {
  const YAML::Node root = load(path);
  std::vector<std::pair<std::string, std::string>> pairs;
  if (root.IsNull()) return pairs;
  if (!root.IsMap()) fail(path, root.Mark(), "a line \"name: value\" for each flag", "none");
  for (const auto& entry : root) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    const auto values = values_of(path, name, entry.second);
    pairs.emplace_back(name, fmt::format("{}", fmt::join(values, ",")));
  }
  return pairs;
}

FlagValues flag_values(const Command& command, const std::set<std::string>& left_out) {
  FlagValues values;
  for (const Flag& flag : command.flags()) {
    const std::string name = flag.long_name();
    if (name.empty() || name == "help" || left_out.contains(name)) continue;
    values.emplace_back(name, current_values(flag));
  }
  return values;
}

FlagValues given_values(const Command& command, const std::set<std::string>& left_out) {
  FlagValues values;
  for (const Flag& flag : command.flags()) {
    const std::string name = flag.long_name();
    if (!flag.is_given() || name.empty() || left_out.contains(name)) continue;
    values.emplace_back(name, flag.given_values());
  }
  return values;
}

FlagValues default_values(const Command& command) {
  FlagValues values;
  for (const Flag& flag : command.flags()) {
    const std::string name = flag.long_name();
    if (!name.empty()) values.emplace_back(name, flag.default_values());
  }
  return values;
}

void set_flag_value(FlagValues& values, const std::string& name, const std::string& value) {
  entry_of(values, name) = {value};
}

void set_flag_values(FlagValues& values, const std::string& name,
                     const std::vector<double>& numbers) {
  std::vector<std::string>& texts = entry_of(values, name);
  texts.clear();
  for (const double number : numbers) texts.push_back(fmt::format("{}", number));
}

std::string to_yaml(const FlagValues& values) {
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
