#include "stoker/cli/ready_text.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace stoker {
namespace {

namespace fs = std::filesystem;

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

// The word becomes part of a path.
bool is_plain(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

std::string ready_text_name(std::span<const std::string_view> words) {
  if (words.empty() || words.size() > 2) return "";
  const std::string_view first = words.front(), last = words.back();
  if (words.size() == 1) {
    if (asks_for_help(first) || first == "help") return "help.txt";
    return first == "man" ? "stoker.1" : "";
  }
  if (first == "completion" && is_plain(last)) return "completion." + std::string(last);
  if (first == "help" && is_plain(last)) return "help-" + std::string(last) + ".txt";
  if (asks_for_help(last) && is_plain(first)) return "help-" + std::string(first) + ".txt";
  return "";
}

bool print_ready_text(std::span<const std::string_view> words, const fs::path& program_folder) {
  const std::string name = ready_text_name(words);
  if (name.empty()) return false;
  for (const fs::path& folder :
       {program_folder / "texts", program_folder.parent_path() / "lib" / "stoker" / "texts"}) {
    std::ifstream file(folder / name, std::ios::binary);
    if (!file) continue;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
           std::fflush(stdout) == 0;
  }
  return false;
}

}  // namespace stoker
