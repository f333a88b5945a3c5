#include "stoker/cli/option_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace stoker {
namespace {

std::set<std::string>& program_flags() {
  static std::set<std::string> flags;
  return flags;
}

}  // namespace

std::string with_flags(std::string_view text, const std::set<std::string>& flags) {
  std::string result;
  while (!text.empty()) {
    const std::size_t begin = text.find('`');
    result += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = text.find('`', 1);
    const std::string_view quoted = end == std::string_view::npos ? "" : text.substr(1, end - 1);
    const std::size_t equals = quoted.find('=');
    std::string name(quoted.substr(0, equals));
    std::ranges::replace(name, '_', '-');
    if (!flags.contains(name)) {
      result += '`';  // what follows may begin at the next one
      text.remove_prefix(1);
      continue;
    }
    result += equals == std::string_view::npos
                  ? fmt::format("--{}", name)
                  : fmt::format("`--{} {}`", name, quoted.substr(equals + 1));
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string with_flags(std::string_view text) { return with_flags(text, program_flags()); }

void set_program_flags(std::set<std::string> flags) { program_flags() = std::move(flags); }

}  // namespace stoker
