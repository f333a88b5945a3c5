// `stoker train`: trains a model, alone or from where a run was broken off.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/error_message.h"
#include "stoker/cli/final_test.h"
#include "stoker/cli/folds.h"
#include "stoker/cli/rank_agreement.h"
#include "stoker/cli/rank_log.h"
#include "stoker/cli/recipes.h"
#include "stoker/cli/report_file.h"
#include "stoker/cli/run_data.h"
#include "stoker/cli/run_folder.h"
#include "stoker/cli/run_notes.h"
#include "stoker/cli/run_pictures.h"
#include "stoker/cli/run_recorder.h"
#include "stoker/cli/torch_errors.h"
#include "stoker/cli/train_flags.h"
#include "stoker/cli/train_reporter.h"
#include "stoker/cli/train_setup.h"
#include "stoker/cli/yaml_flags.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/distributed/group.h"
#include "stoker/image/png.h"
#include "stoker/report/line_plot.h"
#include "stoker/train/rate_range.h"
#include "stoker/train/share_state.h"
#include "stoker/train/stop_signals.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::string default_name(const TrainFlags& flags) {
  return fmt::format("{}-{}", fs::path(flags.data).filename().string(),
                     flags.model.substr(0, flags.model.find(':')));
}

void write_rate_range(const fs::path& folder, const RateRange& range) {
  std::string rows = "rate,loss\n";
  for (std::size_t i = 0; i < range.rates.size(); ++i) {
    rows += fmt::format("{},{}\n", range.rates[i], range.losses[i]);
  }
  write_whole_file(folder / "lr_range.csv", rows, "range test");
  const double lowest = *std::min_element(range.losses.begin(), range.losses.end());
  const double highest = *std::max_element(range.losses.begin(), range.losses.end());
  const PlotSeries series[] = {{.name = "loss", .x = range.rates, .y = range.losses},
                               {.name = fmt::format("chosen: {:.1e}", range.suggested),
                                .x = {range.suggested, range.suggested},
                                .y = {lowest, highest}}};
  write_png(folder / "lr_range.png", line_plot(series, {.title = "Learning rate range test",
                                                        .x_title = "learning rate",
                                                        .y_title = "loss, smoothed",
                                                        .x_scale = AxisScale::kLog10,
                                                        .markers = false})
                                         .view());
}

// The run is done and saved: what is missing in its report is told, and no reason to fail.
template <typename Action>
void try_for_report(RunFolder& folder, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    folder.say(fmt::format("report     incomplete: {}", error.what()));
  }
}

void draw_predictions(RunFolder& folder, const TrainFlags& flags, const TrainData& data) {
  try_for_report(folder, [&] {
    write_run_pictures(folder.path() / "pictures.json", pictures_of(flags, data),
                       read_predictions(folder.path() / "predictions.safetensors",
                                        data.train->class_names().size()));
  });
}

void make_report(RunFolder& folder) {
  try_for_report(folder, [&] {
    const fs::path path = folder.path() / "report.html";
    write_report({folder.path().string()}, path, ReportFormat::kHtml);
    folder.say(fmt::format("report     {}", path.string()));
  });
}

RunEnd train_and_note_faults(Trainer trainer, TrainReporter& reporter) {
  try {
    return trainer.run();
  } catch (const TooManyFaults& error) {
    reporter.write_faults(error.faults());
    reporter.write_results();
    throw;
  }
}

// In place of --resume auto: the run to go on with, or nothing.
void resolve_resume(TrainFlags& flags) {
  if (flags.resume != "auto") return;
  if (flags.experiment.empty()) {
    throw Error({.what = "--resume auto does not know which run is meant",
                 .expected = "--experiment with the run's name",
                 .found = "none"});
  }
  flags.resume.clear();
  if (RunFolder::is_there(flags.output, flags.experiment)) {
    flags.resume = (fs::path(flags.output) / flags.experiment).string();
  } else {
    flags.take_folder = true;
  }
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As the run has it that is resumed.
void apply_run_settings(const Command& command, TrainFlags& flags, const std::string& yaml,
                        const std::string& name) {
  flags.validation.note_run_settings(yaml);
  apply_run_yaml(command, yaml, name);
}

RunFolder open_folder(const Command& command, TrainFlags& flags) {
  RunFolder folder = RunFolder::open(flags.output, flags.resume);
  apply_run_settings(command, flags, text_of_file(folder.args()), folder.args().string());
  return folder;
}

StepSyncOptions sync_options(const DistFlags& flags) {
  return {.reduction = {.kind = flags.reduce == "after" ? ReductionKind::kAfterwards
                                                        : ReductionKind::kOverlapped,
                        .bfloat16 = flags.compression == "bfloat16"},
          .shared_statistics = flags.sync_bn};
}

// Null where this process trains alone.
std::unique_ptr<StepSync> make_sync(Group* group, State& state, const DistFlags& flags) {
  if (group == nullptr) return nullptr;
  share_state(*group, state);
  return std::make_unique<StepSync>(*group, state, sync_options(flags));
}

// The weights are saved: what fails here is made up for by resuming the run.
void test_at_end(RunFolder& folder, const TrainFlags& flags, const TrainSetup& setup,
                 RunRecorder& recorder, const StopSignals& signals) {
  if (!can_test(setup)) return;
  try {
    const FinalTest test = run_final_test(folder, flags, setup, [&] {
      if (signals.received() != 0) throw ExitRequest{kStoppedExitCode};
    });
    folder.say(fmt::format("test       {}", to_text(test)));
    recorder.note_test(test, setup.state.step);
  } catch (const ExitRequest&) {
    recorder.note_end("stopped", setup.state);
    folder.say(
        fmt::format("stopped by signal {} in the test; resume with `stoker train --resume {}`",
                    signals.received(), folder.path().string()));
    throw;
  } catch (const Error&) {
    recorder.note_end("failed in the test", setup.state);
    throw;
  }
}

// All ranks come here and none fails for another's reason, so nobody needs to be told.
[[noreturn]] void end_diverged(const State& state, const TrainFlags& flags) {
  const Error error({.what = fmt::format("training diverged at step {}", state.step),
                     .expected = "a finite loss that does not explode",
                     .found = state.loss_watch.verdict().value_or("another loss"),
                     .hint = fmt::format("Lower --lr (now {}), or limit gradients with --clip-grad "
                                         "1. --on-divergence continue trains on regardless",
                                         flags.lr)});
  fmt::print(stderr, "stoker: {}\n", error.what());
  throw ExitRequest{1};
}

// Alone, or as rank 0 of a group: all that a run writes is written here.
void run_in(RunFolder& folder, const Command& command, TrainFlags& flags, TrainSetup& setup,
            Group* group = nullptr) {
  const StopSignals signals;
  const auto start = std::chrono::steady_clock::now();
  const std::string settings =
      to_yaml(resolved_values(command, flags, setup, flags_without_effect_on_the_result()));
  introduce(folder, flags, setup);
  for (const std::string& note : setup.data_notes) folder.say(note);
  if (group != nullptr) introduce(folder, *group);
  State& state = setup.state;
  Checkpointing checkpoints(folder.checkpoints(), setup.interval, flags.keep, settings);
  checkpoints.set_defaults(to_yaml(default_values(command)));
  TrainReporter reporter(
      folder, checkpoints,
      {.epochs = flags.train.epochs,
       .top_k = flags.train.top_k,
       .card = {.architecture = state.model->architecture(),
                .input = state.model->input(),
                .class_names = setup.data.train->class_names(),
                .preprocessing = flags.preprocessing(),
                .division = setup.parts.division ? to_text(*setup.parts.division) : ""},
       .fixed_stages = setup.fixed_stages,
       .fixed_norms = setup.fixed_norms});
  checkpoints.belong_to(setup.identity.digest());
  if (!flags.resume.empty()) {
    const Checkpointing::Restored restored = checkpoints.restore(state);
    check_identity(folder, setup.identity,
                   {restored.data_digest, state.step, flags.accept_changed_data});
    say_where_it_goes_on(folder, restored, state);
    reporter.resume_at(state);
  }
  RunRecorder recorder(folder, flags.record, flags.train.epochs, state,
                       setup.data.train->class_names());
  recorder.note(facts_of(flags, setup, settings));
  recorder.note_settings(settings);
  Observers both({&reporter, &recorder});
  const auto sync = make_sync(group, state, flags.dist);
  const RunEnd end = train_and_note_faults(Trainer(
                                               state, setup.data, flags.train, both,
                                               [&] { return signals.received() != 0; }, sync.get()),
                                           reporter);
  if (end == RunEnd::kStopped) {
    reporter.write_results();
    checkpoints.save(state);
    recorder.note_end("stopped", state);
    folder.say(fmt::format(
        "stopped by {} at step {}; go on with `stoker train --resume {}`",
        signals.received() != 0 ? fmt::format("signal {}", signals.received()) : "another rank",
        state.step, folder.path().string()));
    if (group != nullptr) group->leave();
    throw ExitRequest{kStoppedExitCode};
  }
  if (group != nullptr) group->leave();  // the others need not wait for the report
  if (end == RunEnd::kDiverged) {
    reporter.write_results();
    recorder.note_end("diverged", state);
    if (!flags.no_report && state.best) make_report(folder);
    end_diverged(state, flags);
  }
  say_how_it_ended(folder, end, state,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  draw_predictions(folder, flags, setup.data);
  test_at_end(folder, flags, setup, recorder, signals);
  recorder.note_end(end == RunEnd::kNoProgress ? "ended early" : "finished", state);
  if (!flags.no_report) make_report(folder);
}

void apply_named_settings(const Command& command, const TrainFlags& flags) {
  if (!flags.config.empty()) apply_yaml(command, flags.config);
  if (!flags.recipe.empty()) apply_recipe(command, flags.recipe);
}

RunFolder new_folder(const Command& command, const TrainFlags& flags, const TrainSetup& setup) {
  RunFolder folder = flags.take_folder
                         ? RunFolder::create_or_take(flags.output, flags.experiment)
                         : RunFolder::create(flags.output, flags.experiment, default_name(flags));
  const std::string policy = setup.data.policy.text();
  draw_first_batch(folder.path() / "train_batch0.png", pictures_of(flags, setup.data),
                   fmt::format("{}, {}", flags.data, policy.empty() ? "as it is" : policy));
  if (setup.rate_range) write_rate_range(folder.path(), *setup.rate_range);
  keep_identity(folder, setup.identity);
  FlagValues values = resolved_values(command, flags, setup, {});
  set_flag_value(values, "experiment", folder.path().filename().string());
  // Last: what makes a folder a run that can be resumed.
  write_whole_file(folder.args(), to_yaml(values), "run's settings");
  return folder;
}

void run_all_folds(const Command& command, const TrainFlags& flags) {
  TrainFlags first = flags;
  first.validation.fold = 0;
  first.resolve();
  static_cast<void>(open_parts(first));  // fails before anything is written
  complete_folds(make_folds_folder(command, flags, default_name(flags) + "-folds"));
}

void run_alone(const Command& command, TrainFlags& flags) {
  if (const auto folds = folds_to_resume(flags)) return complete_folds(*folds);
  resolve_resume(flags);
  if (!flags.resume.empty()) {
    RunFolder folder = open_folder(command, flags);
    TrainSetup setup = set_up(flags);
    setup.identity = identity_of(data_parts(setup));
    run_in(folder, command, flags, setup);
    return;
  }
  apply_named_settings(command, flags);
  if (flags.validation.wants_all_folds()) return run_all_folds(command, flags);
  TrainSetup setup = set_up(flags);
  setup.identity = identity_of(data_parts(setup));
  RunFolder folder = new_folder(command, flags, setup);
  run_in(folder, command, flags, setup);
}

void run_as_rank_0(const Command& command, TrainFlags& flags, Group& group) {
  resolve_resume(flags);
  std::optional<RunFolder> folder;
  std::string settings;  // of the run to go on with; others may not see its folder
  if (flags.resume.empty()) {
    apply_named_settings(command, flags);
  } else {
    folder.emplace(open_folder(command, flags));
    settings = text_of_file(folder->args());
  }
  static_cast<void>(group.share_text("resumed settings", settings));
  TrainSetup setup = set_up(flags);
  check_agreement(command, flags, setup, group);
  if (!folder) folder.emplace(new_folder(command, flags, setup));
  static_cast<void>(group.share_text("folder", fs::absolute(folder->path()).string()));
  run_in(*folder, command, flags, setup, &group);
}

void run_as_other_rank(const Command& command, TrainFlags& flags, Group& group) {
  const std::string settings = group.share_text("resumed settings", "");
  if (settings.empty()) {
    apply_named_settings(command, flags);
  } else {
    apply_run_settings(command, flags, settings, "rank 0's settings");
  }
  TrainSetup setup = set_up(flags);
  check_agreement(command, flags, setup, group);
  RankLog log(group.share_text("folder", ""), group.rank());
  try {
    const StopSignals signals;
    log.say(fmt::format("{} of {}, process {}, {}, {}", group.name_of(group.rank()), group.ranks(),
                        ::getpid(), setup.placement.device.device.str(),
                        setup.placement.threads.reason));
    const auto sync = make_sync(&group, setup.state, flags.dist);
    log.say(
        fmt::format("begins at epoch {}, step {}", setup.state.cursor.epoch + 1, setup.state.step));
    const RunEnd end = Trainer(
                           setup.state, setup.data, flags.train, log,
                           [&] { return signals.received() != 0; }, sync.get())
                           .run();
    group.leave();
    log.say(fmt::format("{} at step {}", end == RunEnd::kStopped ? "stopped" : "done",
                        setup.state.step));
    if (end == RunEnd::kDiverged) end_diverged(setup.state, flags);
    if (end == RunEnd::kStopped) throw ExitRequest{kStoppedExitCode};
  } catch (const std::exception& error) {
    log.say(fmt::format("failed: {}", error.what()));
    throw;
  }
}

GroupOptions group_options(const TrainFlags& flags) {
  const bool on_gpu = device_of_rank(flags.compute.device, flags.launch).starts_with("cuda");
  const std::string fitting = on_gpu ? "nccl" : "gloo";
  if (flags.dist.backend != "auto" && flags.dist.backend != fitting) {
    throw Error({.what = "the backend does not fit the device",
                 .expected = fmt::format("--dist-backend {}", fitting),
                 .found = flags.dist.backend});
  }
  return {.timeout = flags.dist.timeout_ms(),
          .interface = flags.dist.interface,
          .device = on_gpu ? c10::DeviceType::CUDA : c10::DeviceType::CPU};
}

// Threads of c10d may still wait for ranks that are gone: nothing of this process is worth waiting
// for.
[[noreturn]] void end_at_once(const std::string& message) {
  fmt::print(stderr, "stoker: {}\n", message);
  std::fflush(nullptr);
  std::_Exit(1);
}

void run_as_rank(const Command& command, TrainFlags& flags) {
  Group group(flags.launch, group_options(flags));
  flags.launch = group.launch();
  try {
    in_our_words([&] {
      if (group.rank() == 0) {
        run_as_rank_0(command, flags, group);
      } else {
        run_as_other_rank(command, flags, group);
      }
    });
  } catch (const GroupError& error) {
    end_at_once(error.what());
  } catch (const std::exception& error) {
    group.tell_failure(error.what());
    end_at_once(fmt::format("{}: {}", group.name_of(group.rank()), error_message(error)));
  }
}

void run(const Command& command, TrainFlags& flags) {
  keep_freed_memory();
  flags.launch = read_launch(flags.dist.launch);
  if (flags.launch.ranks == 1) {
    run_alone(command, flags);
  } else {
    run_as_rank(command, flags);
  }
}

}  // namespace

void add_train_command(const Command& parent) {
  const Command command = parent.add_command("train", "Train a model, or go on with a run");
  auto flags = std::make_shared<TrainFlags>();
  flags->add_to(command);
  command.on_run([flags, command] { in_our_words([&] { run(command, *flags); }); });
}

}  // namespace stoker
