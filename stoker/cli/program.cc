#include "stoker/cli/program.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/error_message.h"
#include "stoker/cli/option_text.h"
#include "stoker/cli/usage_hint.h"
#include "stoker/core/error.h"

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

void add_feed_commands(const Command& program) {
  add_report_command(program);
  add_compare_command(program);
  add_doctor_command(program);
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
constexpr std::array kTrainFlags = {"max-errors", "on-error", "skip-unknown"};

void know_flags(const Command& program) {
  std::set<std::string> flags = flag_names(program);
  flags.insert(kTrainFlags.begin(), kTrainFlags.end());
  set_program_flags(std::move(flags));
}

bool is_for(const Command& program, int argc, char** argv) {
  if (argc < 2) return false;
  return std::strcmp(argv[1], "--version") == 0 || program.has_command(argv[1]);
}

// "help train" means "train --help".
std::vector<const char*> with_help(const Command& program, int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc < 2 || std::strcmp(argv[1], "help") != 0) return words;
  words.erase(words.begin() + 1);
  if (argc == 2 || program.has_command(argv[2])) words.push_back("--help");
  return words;
}

int run_commands(int argc, char** argv, const ProgramParts& parts) {
  CommandLine line("stoker", "Train image classifiers fast and reproducibly.");
  line.version("stoker " STOKER_VERSION);
  const Command program = line.root();
  program.require_command();
  program.footer(std::string("Examples:\n") + (parts.add_commands ? kTrainerExamples : "") +
                 kExamples);
  if (parts.add_commands) parts.add_commands(program);
  add_feed_commands(program);
  if (parts.pass_on && !is_for(program, argc, argv)) parts.pass_on();
  // These two describe all commands that there are.
  add_completion_command(program);
  add_man_command(program, STOKER_VERSION);
  know_flags(program);
  const std::vector<const char*> words = with_help(program, argc, argv);
  try {
    const auto parse = [&] { line.parse(static_cast<int>(words.size()), words.data()); };
    parts.run ? parts.run(parse) : parse();
    if (std::fflush(stdout) != 0) {
      throw Error({.what = "cannot write the output", .found = std::strerror(errno)});
    }
    return 0;
  } catch (const ExitRequest& request) {
    return request.code;
  } catch (const UsageError& error) {
    const std::string hint = usage_hint(command_tree(program), {words.begin() + 1, words.end()});
    const std::string text = hint.empty() ? error.what() : "stoker: " + hint;
    std::fprintf(stderr, "%s\nRun with --help for more information.\n", text.c_str());
    return 2;
  }
}

}  // namespace

int run_command_line(int argc, char** argv, const ProgramParts& parts) {
  try {
    return run_commands(argc, argv, parts);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stoker: %s\n", error_message(error).c_str());
    return 1;
  }
}

}  // namespace stoker
