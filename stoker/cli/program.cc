#include "stoker/cli/program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/cli/colour.h"
#include "stoker/cli/commands/commands.h"
#include "stoker/cli/error_message.h"
#include "stoker/cli/foreign_flags.h"
#include "stoker/cli/option_text.h"
#include "stoker/cli/screen_text.h"
#include "stoker/cli/stack_limit.h"
#include "stoker/cli/usage_hint.h"
#include "stoker/core/error.h"
#include "stoker/core/plain_text.h"

namespace stoker {
namespace {

constexpr const char* kTrainerExamples =
    "  stoker train mnist\n"
    "  stoker train flowers/ --pretrained mobilenet_v2.pth\n"
    "  stoker eval mnist --weights runs/mnist-cnn\n"
    "  stoker predict photo.jpg --weights runs/flowers-mobilenet_v2\n"
    "  stoker export runs/mnist-cnn --out model.onnx\n";
constexpr const char* kExamples =
    "  stoker report runs/mnist-cnn\n"
    "  stoker compare runs/a runs/b\n"
    "  stoker sweep --vary workers=1,2,4 --repeat 3 -- --data mnist --model mlp:784,128,10\n"
    "  stoker doctor flowers/ --write-list clean.tsv\n"
    "  stoker preview --data fashion-mnist --aa mnist -o sheet.png\n"
    "  stoker bench feed --data mnist --aa \"rotate(-10,10),noise(0.05)\" --workers 2\n"
    "  stoker filter photo.jpg --all --out edges.png\n"
    "  stoker split plates/train --every 6 --out splits\n"
    "  stoker shard flowers/ --out shards --shard-size 256MB\n"
    "  stoker ops";

void add_feed_commands(const Command& program, const LabelChecker& check_labels) {
  add_report_command(program);
  add_compare_command(program);
  add_log_command(program);
  add_doctor_command(program, check_labels);
  add_info_command(program);
  add_preview_command(program);
  add_split_command(program);
  add_shard_command(program);
  add_plot_command(program);
  add_filter_command(program);
  add_bench_command(program);
  add_ops_command(program);
}

// Of `stoker train`, in texts of commands that this program may have without it.
constexpr std::array kTrainFlags = {"folds", "max-errors", "on-error", "skip-unknown"};

void know_flags(const Command& program) {
  std::set<std::string> flags = flag_names(program);
  flags.insert(kTrainFlags.begin(), kTrainFlags.end());
  set_program_flags(std::move(flags));
}

// `stoker doctor --weights` computes with a model.
bool asks_a_model(int argc, char** argv) {
  if (std::strcmp(argv[1], "doctor") != 0) return false;
  return std::any_of(argv + 2, argv + argc,
                     [](std::string_view word) { return word.starts_with("--weights"); });
}

bool is_for(const Command& program, int argc, char** argv) {
  if (argc < 2 || asks_a_model(argc, argv)) return false;
  return std::strcmp(argv[1], "--version") == 0 || program.has_command(argv[1]);
}

// Without the program's name, in our spelling. "help train" means "train --help".
std::vector<std::string> own_words(const Command& program, int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help") {
    return in_own_spelling(command_tree(program), std::move(words));
  }
  words.erase(words.begin());
  if (words.empty() || program.has_command(words.front())) words.emplace_back("--help");
  return words;
}

// "stoker: cannot …", the name in red on a terminal.
std::string with_red_name(const std::string& message) {
  const std::size_t end = message.find(':') + 1;
  return coloured(TextColour::kRed, message.substr(0, end), stderr) + message.substr(end);
}

void print_error(const std::exception& error) {
  show_as_it_is(stderr, with_red_name("stoker: " + plain_lines(error_message(error))) + "\n");
}

void check_output() {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return;
  throw Error({.what = "cannot write the output",
               .found = flushed ? "a part of it is lost" : std::strerror(errno)});
}

int run_commands(int argc, char** argv, const ProgramParts& parts) {
  CommandLine line("stoker", "Train image classifiers fast and reproducibly.");
  line.version("stoker " STOKER_VERSION);
  const Command program = line.root();
  program.require_command();
  program.footer(std::string("Examples:\n") + (parts.add_commands ? kTrainerExamples : "") +
                 kExamples);
  std::string colour = "auto";  // obeyed by take_colour_flag()
  program.add_option("--color", colour, "colour in the terminal: auto, always or never");
  if (parts.add_commands) parts.add_commands(program);
  add_feed_commands(program, parts.check_labels);
  if (parts.pass_on && !is_for(program, argc, argv)) parts.pass_on();
  // These two describe all commands that there are.
  add_completion_command(program, parts.offered_values);
  add_man_command(program, STOKER_VERSION);
  know_flags(program);
  std::vector<std::string> words = own_words(program, argc, argv);
  std::vector<const char*> pointers = {argv[0]};
  try {
    take_colour_flag(words);
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const auto parse = [&] { line.parse(static_cast<int>(pointers.size()), pointers.data()); };
    parts.run ? parts.run(parse) : parse();
    check_output();
    return 0;
  } catch (const ExitRequest& request) {
    return request.code;
  } catch (const UsageError& error) {
    const std::string hint = usage_hint(command_tree(program), words);
    const std::string text = hint.empty() ? plain_usage_text(error.what()) : hint;
    show_as_it_is(stderr, with_red_name("stoker: " + plain_lines(text)) +
                              "\nRun with --help for more information.\n");
    return kUsageExitCode;
  }
}

}  // namespace

int run_command_line(int argc, char** argv, const ProgramParts& parts) {
  // Beyond the size limit of files, writing then fails with EFBIG, and the message says so.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  try {
    provide_stack();
    return run_commands(argc, argv, parts);
  } catch (const std::exception& error) {
    print_error(error);
    return exit_code_of(error);
  }
}

}  // namespace stoker
