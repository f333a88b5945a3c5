// `stoker info`: what a file of weights, a checkpoint or a network holds, or how far two files of
// weights are apart.
#include <cmath>

#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/file_description.h"
#include "stoker/core/error.h"
#include "stoker/io/compare.h"
#include "stoker/run/json_text.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

struct InfoFlags {
  std::string file;
  std::vector<std::string> compare;
  bool json = false;
};

void print_comparison(const TensorComparison& result, bool as_json) {
  if (as_json) {
    const auto number = [](double value) {  // JSON has no infinity
      return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json("inf");
    };
    fmt::print("{}\n",
               json_text({{"max_relative_difference", number(result.max_relative_difference)},
                          {"max_absolute_difference", number(result.max_absolute_difference)},
                          {"worst_tensor", result.worst_tensor},
                          {"compared", result.compared},
                          {"identical", result.identical},
                          {"unmatched", result.unmatched}}));
    return;
  }
  fmt::print("compared   {} tensors, {} of them the same in every byte\n", result.compared,
             result.identical);
  fmt::print(
      "relative   {:.3g}{}\n", result.max_relative_difference,
      result.worst_tensor.empty() ? "" : fmt::format(" ({})", plain_text(result.worst_tensor)));
  fmt::print("absolute   {:.3g}\n", result.max_absolute_difference);
  for (const std::string& name : result.unmatched) {
    fmt::print("unmatched  {}\n", plain_text(name));
  }
}

void run(const InfoFlags& flags) {
  if (!flags.compare.empty()) {
    const SafetensorsFile a(weights_path(flags.compare.at(0)));
    const SafetensorsFile b(weights_path(flags.compare.at(1)));
    print_comparison(compare_tensors(a, b), flags.json);
    return;
  }
  if (flags.file.empty()) {
    throw OptionError({.what = "nothing to inspect", .expected = "a FILE, or --compare A B"});
  }
  describe_file(weights_path(flags.file), flags.json);
}

}  // namespace

void add_info_command(const Command& parent) {
  const Command command =
      parent.add_command("info", "Inspect weights and networks, or compare weights");
  auto flags = std::make_shared<InfoFlags>();
  command.add_option("file", flags->file,
                     "weights (safetensors or .pth), a checkpoint, a run's folder, or a network "
                     "(.pt2, .onnx)");
  command
      .add_option("--compare", flags->compare,
                  "two files: the largest difference of a tensor's values, relative to its "
                  "largest value")
      .values(2, 2);
  command.add_flag("--json", flags->json, "print one JSON object");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
