#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/shell_completion.h"

namespace stoker {
namespace {

// A point or a quote at the start of a line would be a command.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }

void add_flag(std::string& out, const FlagInfo& flag) {
  std::vector<std::string> names;
  for (const std::string& name : flag.names) names.push_back(bold(name));
  out += fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!flag.choices.empty()) {
    out += " " + roff(fmt::format("{}", fmt::join(flag.choices, "|")));
  } else if (!flag.value.empty()) {
    out += " \\fI" + roff(flag.value) + "\\fR";
  }
  out += "\n" + roff(flag.description.empty() ? "–" : flag.description);
  if (!flag.otherwise.empty() && !flag.value.empty()) {
    out += roff(fmt::format(" (default: {})", flag.otherwise));
  }
  out += "\n";
}

void add_command(std::string& out, const CommandInfo& command, const std::string& path) {
  const std::string name = path + " " + command.name;
  if (command.commands.empty()) {
    out += fmt::format(".SH {}\n{}\n", bold(name), roff(command.description));
    for (const FlagInfo& flag : command.positionals) {
      if (flag.names.front().starts_with("-")) continue;
      add_flag(out, flag);
    }
    for (const FlagInfo& flag : command.flags) add_flag(out, flag);
    if (!command.footer.empty()) {
      out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.footer));
    }
  }
  for (const CommandInfo& below : command.commands) add_command(out, below, name);
}

}  // namespace

std::string manual_page(const CommandInfo& program, const std::string& version) {
  std::string out = fmt::format(
      ".TH STOKER 1 \"\" \"stoker {}\"\n.SH NAME\nstoker \\- {}\n.SH SYNOPSIS\n"
      ".B stoker\n\\fICOMMAND\\fR [\\fIFLAGS\\fR]\n.SH DESCRIPTION\n{}\n"
      "Every command has a section below; \\fBstoker\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR prints "
      "the same.\n.SH EXAMPLES\n.nf\n{}\n.fi\n",
      roff(version), roff(program.description), roff(program.description), roff(program.footer));
  for (const CommandInfo& command : program.commands) add_command(out, command, "stoker");
  out +=
      ".SH EXIT STATUS\n.TP\n0\nsuccess\n.TP\n1\nfailure, with a message\n.TP\n2\nwrong usage\n"
      ".TP\n3\nstopped by a signal and ready to be resumed\n"
      ".SH ENVIRONMENT\n.TP\n\\fBSTOKER_DATA\\fR\nwhere datasets lie that are given by name\n"
      ".TP\n\\fBSTOKER_SIMD\\fR\nthe version of the kernels that runs, for tests and measuring\n";
  return out;
}

}  // namespace stoker
