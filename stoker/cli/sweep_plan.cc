#include "stoker/cli/sweep_plan.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "stoker/cli/shell_quoted.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/run/json_text.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

// Parts between commas that stand in no brackets.
std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string file_name_part(const std::string& text) {
  constexpr std::size_t kLongest = 24;
  std::string name;
  for (const char c : text.substr(0, kLongest)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    name += plain ? c : '-';
  }
  return name;
}

// What the flags shared by all runs say; 0 is the default of `stoker train`.
std::uint64_t base_seed(const std::vector<std::string>& flags) {
  std::string text = "0";
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i].starts_with("--seed=")) text = flags[i].substr(7);
    if (flags[i] == "--seed" && i + 1 < flags.size()) text = flags[i + 1];
  }
  std::uint64_t seed = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) return seed;
  throw Error({.what = "the seed is no number", .found = fmt::format("\"{}\"", text)});
}

void check(const SweepPlan& plan) {
  if (plan.axes.empty() && plan.repeat < 2) {
    throw OptionError({.what = "there is nothing to sweep over",
                       .expected = "--vary FLAG=VALUE,VALUE or --repeat N",
                       .hint =
                           "For example: stoker sweep --vary workers=1,2,4 -- --data mnist --model "
                           "mlp:784,128,10"});
  }
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    const std::string& flag = plan.axes[i].flag;
    const auto same = [&](const SweepAxis& axis) { return axis.flag == flag; };
    if (std::count_if(plan.axes.begin(), plan.axes.end(), same) > 1) {
      throw Error({.what = fmt::format("--vary names {} twice", flag)});
    }
    if (flag == "seed" && plan.repeat > 1) {
      throw Error({.what = "the seed is both varied and repeated",
                   .expected = "--vary seed=… or --repeat N; repeats have seeds that count up"});
    }
    if (flag == "output" || flag == "experiment" || flag == "resume") {
      throw Error({.what = fmt::format("--vary cannot take {}", flag),
                   .expected = "a flag that says what a run does, not where it lies"});
    }
  }
}

void add_runs(std::vector<SweepRun>& runs, const SweepPlan& plan, std::size_t axis,
              const SweepRun& so_far) {
  if (axis < plan.axes.size()) {
    for (const std::string& value : plan.axes[axis].values) {
      SweepRun next = so_far;
      next.arguments.push_back(fmt::format("--{}={}", plan.axes[axis].flag, value));
      next.name +=
          fmt::format("-{}-{}", file_name_part(plan.axes[axis].flag), file_name_part(value));
      add_runs(runs, plan, axis + 1, next);
    }
    return;
  }
  for (std::uint32_t i = 0; i < plan.repeat; ++i) {
    SweepRun run = so_far;
    if (plan.repeat > 1) {
      const std::uint64_t seed = base_seed(plan.train_flags) + i;
      run.arguments.push_back(fmt::format("--seed={}", seed));
      run.name += fmt::format("-seed-{}", seed);
    }
    run.name = fmt::format("{:03}{}", runs.size() + 1, run.name);
    runs.push_back(std::move(run));
  }
}

}  // namespace

SweepAxis parse_sweep_axis(const std::string& text) {
  const std::size_t equals = text.find('=');
  SweepAxis axis;
  if (equals != std::string::npos) {
    axis.flag = text.substr(0, equals);
    axis.flag.erase(0, axis.flag.find_first_not_of('-'));
    axis.values = split_values(text.substr(equals + 1));
  }
  const bool has_empty = std::ranges::find(axis.values, "") != axis.values.end();
  if (!axis.flag.empty() && !axis.values.empty() && !has_empty) return axis;
  throw OptionError({.what = "cannot read --vary",
                     .expected = "FLAG=VALUE,VALUE, such as workers=1,2,4",
                     .found = fmt::format("\"{}\"", text)});
}

std::vector<SweepRun> sweep_runs(const SweepPlan& plan) {
  check(plan);
  constexpr std::size_t kMostRuns = 10'000;
  std::size_t count = std::max<std::uint32_t>(1, plan.repeat);
  for (const SweepAxis& axis : plan.axes) {
    count *= axis.values.size();
    if (count <= kMostRuns) continue;
    throw Error(
        {.what = "the sweep is too large", .expected = fmt::format("at most {} runs", kMostRuns)});
  }
  std::vector<SweepRun> runs;
  add_runs(runs, plan, 0, {.name = {}, .arguments = plan.train_flags});
  return runs;
}

void write_sweep_plan(const std::filesystem::path& path, const SweepPlan& plan) {
  Json json = {{"repeat", plan.repeat}, {"train_flags", plan.train_flags}};
  json["vary"] = Json::array();
  for (const SweepAxis& axis : plan.axes) {
    json["vary"].push_back({{"flag", axis.flag}, {"values", axis.values}});
  }
  write_whole_file(path, json_text(json) + "\n", "sweep's plan");
}

SweepPlan read_sweep_plan(const std::filesystem::path& path) {
  try {
    const Json json = Json::parse(read_text_file(path, "cannot read the sweep's plan"));
    SweepPlan plan;
    json.at("repeat").get_to(plan.repeat);
    json.at("train_flags").get_to(plan.train_flags);
    for (const Json& axis : json.at("vary")) {
      plan.axes.push_back({.flag = axis.at("flag").get<std::string>(),
                           .values = axis.at("values").get<std::vector<std::string>>()});
    }
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw Error({.what = "cannot read the sweep's plan",
                 .path = path.string(),
                 .expected = "what stoker sweep wrote",
                 .found = error.what()});
  }
}

std::string slurm_script(const std::string& program, const std::filesystem::path& folder,
                         std::size_t runs) {
  return fmt::format(
      "#!/bin/bash\n"
      "#SBATCH --job-name=stoker-sweep\n"
      "#SBATCH --array=0-{0}\n"
      "#SBATCH --signal=B:USR1@60\n"
      "#SBATCH --requeue\n"
      "# Add what the cluster asks for: partition, time, CPUs, GPUs.\n"
      "# A task that was stopped goes on where it was when it is started again.\n"
      "# When all have ended, this makes the table and the report:\n"
      "#   {1} sweep --output {2}\n"
      "exec {1} sweep --output {2} --only \"$SLURM_ARRAY_TASK_ID\"\n",
      runs - 1, shell_quoted(program), shell_quoted(folder.string()));
}

}  // namespace stoker
