// The program's commands and their flags. A thin front over CLI11, whose headers take a compiler
// half a minute: only command.cc and command_tree.cc include them.
//
// Command and Flag are handles: copies mean the same command or flag, which lives as long as its
// CommandLine.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stoker {

// Words on the command line that cannot be used as they are.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown by a command that is done but not with success, after it has said why.
struct ExitRequest {
  int code = 1;
};
// Words or values that cannot be used.
inline constexpr int kUsageExitCode = 2;
// A run that was asked to stop and can be resumed.
inline constexpr int kStoppedExitCode = 3;

// A flag or a positional argument.
class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  // What makes it a stricter flag; each gives the flag back.
  Flag required() const;
  Flag one_of(const std::vector<std::string>& values) const;
  Flag one_of(std::initializer_list<const char*> values) const;
  Flag between(double low, double high) const;
  template <std::integral T>
  Flag between(T low, T high) const {
    return between_integers(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
  }
  Flag existing_folder() const;
  // `complaint` says what is wrong with a value, or nothing.
  Flag check(const std::function<std::string(const std::string&)>& complaint) const;
  Flag needs(Flag other) const;
  Flag excludes(Flag other) const;

  // The heading above it in help.
  Flag group(const std::string& name) const;

  // Several values: their number; separated within one word; the flag given several times; one
  // value each time it is given.
  Flag values(int least, int most) const;
  Flag separated_by(char separator) const;
  Flag repeatable() const;
  Flag single_values() const;

  // In help and settings. Numbers and text have theirs shown anyway.
  Flag show_default() const;
  Flag hide_default() const;
  Flag default_text(const std::string& text) const;

  // Without dashes; empty where it has none.
  [[nodiscard]] std::string long_name() const;
  [[nodiscard]] bool is_given() const;

 private:
  Flag between_integers(std::int64_t low, std::int64_t high) const;

  CLI::Option* option_;
};

class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Command add_command(const std::string& name, const std::string& description) const;
  void require_command() const;
  [[nodiscard]] bool has_command(const std::string& name) const;
  // `names`: "-b,--batch-size", or without dashes for a positional argument. For the types of
  // command.cc. `value` is the default and must live as long as the command.
  template <typename T>
  Flag add_option(const std::string& names, T& value, const std::string& help) const;
  // Calls `use` with what was given.
  Flag add_option(const std::string& names, const std::function<void(const std::string&)>& use,
                  const std::string& help) const;
  // "!--no-x": false where it is given.
  Flag add_flag(const std::string& names, bool& value, const std::string& help) const;
  void footer(const std::string& text) const;
  void on_run(const std::function<void()>& action) const;

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::vector<Flag> flags() const;
  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

// The program itself.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] Command root() const { return Command(*app_); }
  void version(const std::string& text);
  // Runs the command that is named. Throws UsageError, and ExitRequest after --help and --version.
  void parse(int argc, const char* const* argv);
  void parse(const std::string& words);

 private:
  void parsed(const std::function<void()>& parse);

  std::unique_ptr<CLI::App> app_;
};

}  // namespace stoker
