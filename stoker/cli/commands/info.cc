// `stoker info`: what a file of weights or a checkpoint holds, or how far two of them are apart.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/core/error.h"
#include "stoker/io/compare.h"
#include "stoker/io/weights_file.h"
#include "stoker/run/json_text.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

struct InfoFlags {
  std::string file;
  std::vector<std::string> compare;
  bool json = false;
};

std::uint64_t value_count(const WeightsFile& file) {
  std::uint64_t count = 0;
  for (const TensorView& tensor : file.tensors()) {
    count += tensor.bytes.size() / dtype_bytes(tensor.dtype);
  }
  return count;
}

void describe_json(const WeightsFile& file) {
  nlohmann::ordered_json json = {{"values", value_count(file)}, {"metadata", file.metadata()}};
  json["tensors"] = nlohmann::ordered_json::array();
  for (const TensorView& tensor : file.tensors()) {
    json["tensors"].push_back(
        {{"name", tensor.name}, {"dtype", dtype_name(tensor.dtype)}, {"shape", tensor.shape}});
  }
  fmt::print("{}\n", json_text(json));
}

void describe_text(const WeightsFile& file) {
  constexpr std::size_t kLongest = 200;
  for (const auto& [key, value] : file.metadata()) {
    fmt::print("{:<22} {}{}\n", key, value.substr(0, kLongest),
               value.size() > kLongest ? " …" : "");
  }
  fmt::print("{:<22} {} in {} tensors\n\n", "values", value_count(file), file.tensors().size());
  for (const TensorView& tensor : file.tensors()) {
    fmt::print("{:<5} {:<20} {}\n", dtype_name(tensor.dtype),
               fmt::format("({})", fmt::join(tensor.shape, ", ")), tensor.name);
  }
}

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
  fmt::print("relative   {:.3g}{}\n", result.max_relative_difference,
             result.worst_tensor.empty() ? "" : fmt::format(" ({})", result.worst_tensor));
  fmt::print("absolute   {:.3g}\n", result.max_absolute_difference);
  for (const std::string& name : result.unmatched) fmt::print("unmatched  {}\n", name);
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
  const WeightsFile file(weights_path(flags.file));
  if (flags.json) {
    describe_json(file);
  } else {
    describe_text(file);
  }
}

}  // namespace

void add_info_command(const Command& parent) {
  const Command command = parent.add_command("info", "Inspect or compare weights");
  auto flags = std::make_shared<InfoFlags>();
  command.add_option("file", flags->file,
                     "weights (safetensors or .pth), a checkpoint or a run's folder");
  command
      .add_option("--compare", flags->compare,
                  "two files: the largest difference of a tensor's values, relative to its "
                  "largest value")
      .values(2, 2);
  command.add_flag("--json", flags->json, "print one JSON object");
  command.on_run([flags] { run(*flags); });
}

}  // namespace stoker
