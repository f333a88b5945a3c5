// The commands, one file each. Every function adds its flags to `parent` and what to do when
// chosen.
#pragma once

#include "stoker/cli/command.h"
#include "stoker/cli/shell_completion.h"
#include "stoker/doctor/label_suspects.h"

namespace stoker {

void add_bench_command(const Command& parent);
void add_completion_command(const Command& parent, const OfferedValues& values);
void add_bench_kernels_command(const Command& bench);  // of `stoker bench`
void add_doctor_command(const Command& parent, const LabelChecker& check_labels);
void add_filter_command(const Command& parent);
void add_info_command(const Command& parent);
void add_log_command(const Command& parent);
void add_man_command(const Command& parent, const std::string& version);
void add_ops_command(const Command& parent);
void add_plot_command(const Command& parent);
void add_preview_command(const Command& parent);
void add_report_command(const Command& parent);
void add_compare_command(const Command& parent);
void add_shard_command(const Command& parent);
void add_split_command(const Command& parent);
// Of the trainer.
void add_calibrate_command(const Command& parent);
void add_devices_command(const Command& parent);
void add_eval_command(const Command& parent);
void add_export_command(const Command& parent);
void add_predict_command(const Command& parent);
void add_serve_command(const Command& parent);
void add_settings_command(const Command& parent);
void add_sweep_command(const Command& parent);
void add_train_command(const Command& parent);

}  // namespace stoker
