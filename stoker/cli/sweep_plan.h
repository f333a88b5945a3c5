// What `stoker sweep` runs: every combination of the varied flags, as often as asked for, in a
// fixed order and with fixed names, so that a sweep that was broken off finds its runs again. Plain
// values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stoker {

struct SweepAxis {
  std::string flag;  // of `stoker train`, without dashes
  std::vector<std::string> values;
  bool operator==(const SweepAxis&) const = default;
};
// "workers=1,2,4"; commas in brackets do not separate. Throws Error where that is not its form.
[[nodiscard]] SweepAxis parse_sweep_axis(const std::string& text);

struct SweepPlan {
  std::vector<SweepAxis> axes;
  std::uint32_t repeat = 1;              // runs of each combination, with seeds that count up
  std::vector<std::string> train_flags;  // of all of them
  bool operator==(const SweepPlan&) const = default;
};

struct SweepRun {
  std::string name;                    // of its folder
  std::vector<std::string> arguments;  // of `stoker train`, without the folder
};

// The last flag varies fastest, repeats faster still. Throws Error where nothing would be run, a
// flag is varied twice, or the seed is both varied and repeated.
[[nodiscard]] std::vector<SweepRun> sweep_runs(const SweepPlan& plan);

// As a file in the sweep's folder.
void write_sweep_plan(const std::filesystem::path& path, const SweepPlan& plan);
[[nodiscard]] SweepPlan read_sweep_plan(const std::filesystem::path& path);

// A script for `sbatch`: one task of an array for each run.
[[nodiscard]] std::string slurm_script(const std::string& program,
                                       const std::filesystem::path& folder, std::size_t runs);

}  // namespace stoker
