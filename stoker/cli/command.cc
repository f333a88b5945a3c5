#include "stoker/cli/command.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>

#include "stoker/cli/command_tree.h"
#include "stoker/cli/help_text.h"

namespace stoker {
namespace {

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    if (name.empty()) name = app->get_name();
    return help_text(command_tree(*app), name.starts_with(' ') ? name.substr(1) : name);
  }
};

}  // namespace

Flag Flag::required() const { return option_->required(), *this; }

Flag Flag::one_of(const std::vector<std::string>& values) const {
  return option_->transform(CLI::IsMember(values, CLI::ignore_case)), *this;
}

Flag Flag::one_of(std::initializer_list<const char*> values) const {
  return one_of(std::vector<std::string>(values.begin(), values.end()));
}

Flag Flag::between(double low, double high) const {
  return option_->check(CLI::Range(low, high)), *this;
}

Flag Flag::between_integers(std::int64_t low, std::int64_t high) const {
  return option_->check(CLI::Range(low, high)), *this;
}

Flag Flag::existing_folder() const { return option_->check(CLI::ExistingDirectory), *this; }

Flag Flag::check(const std::function<std::string(const std::string&)>& complaint) const {
  return option_->check(complaint), *this;
}

Flag Flag::needs(Flag other) const { return option_->needs(other.option_), *this; }
Flag Flag::excludes(Flag other) const { return option_->excludes(other.option_), *this; }
Flag Flag::group(const std::string& name) const { return option_->group(name), *this; }
Flag Flag::values(int least, int most) const { return option_->expected(least, most), *this; }
Flag Flag::separated_by(char separator) const { return option_->delimiter(separator), *this; }

Flag Flag::repeatable() const {
  return option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll), *this;
}

Flag Flag::single_values() const { return option_->allow_extra_args(false), *this; }

Flag Flag::show_default() const { return option_->capture_default_str(), *this; }
Flag Flag::hide_default() const { return option_->default_str(""), *this; }
Flag Flag::default_text(const std::string& text) const { return option_->default_str(text), *this; }

std::string Flag::long_name() const {
  return option_->get_lnames().empty() ? "" : option_->get_lnames().front();
}

bool Flag::is_given() const { return option_->count() > 0; }

Command Command::add_command(const std::string& name, const std::string& description) const {
  return Command(*app_->add_subcommand(name, description));
}

bool Command::has_command(const std::string& name) const {
  const std::vector<CLI::App*> all = app_->get_subcommands(nullptr);
  return std::ranges::any_of(all, [&](const CLI::App* each) { return each->get_name() == name; });
}

void Command::require_command() const { app_->require_subcommand(1); }

template <typename T>
Flag Command::add_option(const std::string& names, T& value, const std::string& help) const {
  const Flag flag(*app_->add_option(names, value, help));
  return kIsList<T> ? flag : flag.show_default();
}

template Flag Command::add_option(const std::string&, std::string&, const std::string&) const;
template Flag Command::add_option(const std::string&, int&, const std::string&) const;
template Flag Command::add_option(const std::string&, std::int64_t&, const std::string&) const;
template Flag Command::add_option(const std::string&, std::uint32_t&, const std::string&) const;
template Flag Command::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template Flag Command::add_option(const std::string&, double&, const std::string&) const;
template Flag Command::add_option(const std::string&, std::vector<std::string>&,
                                  const std::string&) const;
template Flag Command::add_option(const std::string&, std::vector<int>&, const std::string&) const;
template Flag Command::add_option(const std::string&, std::vector<double>&,
                                  const std::string&) const;

Flag Command::add_option(const std::string& names,
                         const std::function<void(const std::string&)>& use,
                         const std::string& help) const {
  return Flag(*app_->add_option_function<std::string>(names, use, help));
}

Flag Command::add_flag(const std::string& names, bool& value, const std::string& help) const {
  return Flag(*app_->add_flag(names, value, help));
}

void Command::footer(const std::string& text) const { app_->footer(text); }
void Command::on_run(const std::function<void()>& action) const { app_->callback(action); }
std::string Command::name() const { return app_->get_name(); }

std::vector<Flag> Command::flags() const {
  std::vector<Flag> flags;
  for (CLI::Option* option : app_->get_options()) flags.emplace_back(*option);
  return flags;
}

CommandLine::CommandLine(const std::string& name, const std::string& description)
    : app_(std::make_unique<CLI::App>(description, name)) {
  // The last of two equal flags wins, as in scripts that add to a command line.
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CommandLine::~CommandLine() = default;

void CommandLine::version(const std::string& text) { app_->set_version_flag("--version", text); }

void CommandLine::parse(int argc, const char* const* argv) {
  parsed([&] { app_->parse(argc, argv); });
}

void CommandLine::parse(const std::string& words) {
  parsed([&] { app_->parse(words); });
}

void CommandLine::parsed(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) throw ExitRequest{app_->exit(error)};  // --help, --version
    throw UsageError(error.what());
  }
}

}  // namespace stoker
