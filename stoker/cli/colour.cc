#include "stoker/cli/colour.h"

#include <array>
#include <cstdlib>

#include <unistd.h>

#include "stoker/cli/command.h"

namespace stoker {
namespace {

enum class Mode : std::uint8_t { kAuto, kAlways, kNever };
Mode mode = Mode::kAuto;  // set once, before any output

void set_mode(const std::string& value) {
  if (value == "auto") {
    mode = Mode::kAuto;
  } else if (value == "always") {
    mode = Mode::kAlways;
  } else if (value == "never") {
    mode = Mode::kNever;
  } else {
    throw UsageError("--color: expected auto, always or never, got \"" + value + "\"");
  }
}

bool is_wanted(std::FILE* file) {
  if (mode != Mode::kAuto) return mode == Mode::kAlways;
  const char* no_colour = std::getenv("NO_COLOR");
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  return !refused && isatty(fileno(file)) != 0;
}

constexpr std::array kCodes = {"31", "33", "32", "34"};

}  // namespace

std::string coloured(TextColour colour, const std::string& text, std::FILE* file) {
  if (!is_wanted(file)) return text;
  return std::string("\x1b[1;") + kCodes[static_cast<std::size_t>(colour)] + "m" + text + "\x1b[0m";
}

void take_colour_flag(std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--";) {
    const auto place = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (words[i].starts_with("--color=")) {
      set_mode(words[i].substr(words[i].find('=') + 1));
      words.erase(place);
    } else if (words[i] == "--color") {
      if (i + 1 == words.size()) throw UsageError("--color: expected auto, always or never");
      set_mode(words[i + 1]);
      words.erase(place, place + 2);
    } else {
      ++i;
    }
  }
}

}  // namespace stoker
