// The commands, one file each. Every function adds its flags to `parent` and what to do when
// chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace stoker {

void add_bench_command(CLI::App& parent);
void add_completion_command(CLI::App& parent);
void add_bench_kernels_command(CLI::App& bench);  // of `stoker bench`
void add_doctor_command(CLI::App& parent);
void add_filter_command(CLI::App& parent);
void add_info_command(CLI::App& parent);
void add_man_command(CLI::App& parent, const std::string& version);
void add_ops_command(CLI::App& parent);
void add_plot_command(CLI::App& parent);
void add_preview_command(CLI::App& parent);
void add_report_command(CLI::App& parent);
void add_shard_command(CLI::App& parent);
void add_split_command(CLI::App& parent);
// Of the trainer.
void add_eval_command(CLI::App& parent);
void add_export_command(CLI::App& parent);
void add_predict_command(CLI::App& parent);
void add_sweep_command(CLI::App& parent);
void add_train_command(CLI::App& parent);

// Thrown by a command that is done but not with success, after it has said why.
struct ExitRequest {
  int code = 1;
};
// A run that was asked to stop and can be resumed.
inline constexpr int kStoppedExitCode = 3;

}  // namespace stoker
