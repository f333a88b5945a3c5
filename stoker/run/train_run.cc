#include "stoker/run/train_run.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/distributed/group.h"
#include "stoker/distributed/secret.h"
#include "stoker/image/png.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/report/line_plot.h"
#include "stoker/run/metrics_file.h"
#include "stoker/run/rank_agreement.h"
#include "stoker/run/rank_log.h"
#include "stoker/run/recipes.h"
#include "stoker/run/report_file.h"
#include "stoker/run/resume_settings.h"
#include "stoker/run/run_data.h"
#include "stoker/run/run_folder.h"
#include "stoker/run/run_images.h"
#include "stoker/run/run_notes.h"
#include "stoker/run/run_recorder.h"
#include "stoker/run/torch_errors.h"
#include "stoker/run/train_reporter.h"
#include "stoker/run/train_setup.h"
#include "stoker/train/local_sync.h"
#include "stoker/train/rank_sync.h"
#include "stoker/train/share_state.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

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

void draw_predictions(RunFolder& folder, const RunSettings& run, const TrainData& data) {
  try_for_report(folder, [&] {
    PredictionTable predictions;  // of other tasks no validation images are shown
    if (task_of(*data.train) == Task::kClassify) {
      predictions = read_predictions(folder.path() / "predictions.safetensors",
                                     data.train->class_names().size());
    }
    write_run_images(folder.path() / "pictures.json", images_of(run, data), predictions);
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

// `group`: null where this process trains alone.
std::unique_ptr<StepSync> make_sync(Group* group, State& state, const RunSettings& run) {
  if (group == nullptr) return std::make_unique<LocalSync>(state, run.train.shared_statistics);
  const RankSettings& ranks = run.ranks;
  share_state(*group, state);
  const RankSyncOptions options = {
      .reduction = {.kind = ranks.reduce_afterwards ? ReductionKind::kAfterwards
                                                    : ReductionKind::kOverlapped,
                    .bfloat16 = ranks.compress},
      .shared_statistics = ranks.sync_bn};
  return std::make_unique<RankSync>(*group, state, options);
}

std::string divergence_text(const State& state, const RunSettings& run) {
  return Error({.what = fmt::format("training diverged at step {}", state.step),
                .expected = "a finite loss that does not explode",
                .found = state.loss_watch.verdict().value_or("another loss"),
                .hint = fmt::format("Lower `lr` (now {}), or limit gradients with `clip_grad` "
                                    "1. `on_divergence` continue trains on regardless",
                                    run.lr_text())})
      .what();
}

TrainReporter::Subject subject_of(const RunSettings& run, const TrainSetup& setup) {
  const Model& model = *setup.state.model;
  return {.epochs = run.train.feed.epochs,
          .top_k = run.train.top_k,
          .card = {.architecture = model.architecture(),
                   .input = model.input(),
                   .graph = model.graph(),
                   .class_names = output_names(*setup.data.train),
                   .preprocessing = run.preprocessing(),
                   .division = setup.parts.division ? to_text(*setup.parts.division) : "",
                   .task = task_of(*setup.data.train),
                   .target_mean = setup.data.target_scale.mean,
                   .target_std = setup.data.target_scale.deviation},
          .fixed_stages = setup.fixed_stages,
          .fixed_norms = setup.fixed_norms};
}

// One run in its folder, of a process alone or of rank 0: all that a run writes is written here.
class RecordedRun {
 public:
  RecordedRun(RunFolder& folder, const RunSettings& run, TrainSetup& setup, const RunEvents& events,
              Group* group)
      : folder_(folder),
        run_(run),
        setup_(setup),
        events_(events),
        group_(group),
        identity_(identity_yaml(resolved(run, setup))),
        checkpoints_(folder.checkpoints(), setup.interval, run.keep, identity_),
        reporter_(folder, checkpoints_, subject_of(run, setup)) {
    checkpoints_.set_defaults(default_yaml());
    checkpoints_.compare_as(
        [this](const std::string& yaml) { return comparable_yaml(yaml, run_); });
    checkpoints_.belong_to(setup.identity.digest());
    checkpoints_.write_in_background();
  }

  RunResult train() {
    const auto start = std::chrono::steady_clock::now();
    introduce();
    if (!run_.resume.empty()) restore();
    recorder_.emplace(folder_, run_.record, run_.train.feed.epochs, setup_.state,
                      subject_of(run_, setup_).card);
    recorder_->note(facts_of(run_, setup_, identity_));
    recorder_->note_settings(identity_);
    reporter_.write_before_checkpoints([this] { return recorder_->writer_of_steps(); });
    RunResult result{.end = run_steps(), .folder = folder_.path(), .steps = setup_.state.step};
    recorder_->note_saving(checkpoints_.times());
    if (group_ != nullptr && result.end != RunEnd::kStopped) {
      group_->leave();  // the others need not wait for the report
    }
    if (result.end == RunEnd::kStopped) {
      note_stop();
    } else if (result.end == RunEnd::kDiverged) {
      note_divergence(result);
    } else {
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      finish(result, time.count());
    }
    return result;
  }

 private:
  void introduce() {
    stoker::introduce(folder_, run_, setup_);
    for (const std::string& note : setup_.data_notes) folder_.say(note);
    if (group_ != nullptr) stoker::introduce(folder_, *group_);
  }

  void restore() {
    State& state = setup_.state;
    const Checkpointing::Restored restored = checkpoints_.restore(state);
    check_identity(folder_, setup_.identity,
                   {restored.data_digest, state.step, run_.accept_changed_data});
    say_resume_point(folder_, restored, state, run_.train);
    reporter_.resume_at(state);
  }

  RunEnd run_steps() {
    std::vector<Observer*> all = {&reporter_, &*recorder_};
    std::optional<MetricsFile> metrics;
    if (const std::string& path = run_.record.metrics_file; !path.empty()) {
      all.push_back(
          &metrics.emplace(path, folder_.path().filename().string(), task_of(*setup_.data.train)));
    }
    all.insert(all.end(), events_.observers.begin(), events_.observers.end());
    Observers observers(std::move(all));
    const auto sync = make_sync(group_, setup_.state, run_);
    Trainer trainer(
        setup_.state, setup_.data, run_.train, observers, [&] { return events_.stop(); }, *sync);
    const RunEnd end = train_and_note_faults(std::move(trainer), reporter_);
    checkpoints_.wait();
    return end;
  }

  void note_stop() {
    const State& state = setup_.state;
    reporter_.save(state);
    checkpoints_.wait();
    recorder_->note_end("stopped", state);
    folder_.say(fmt::format("stopped by {} at step {}; resume with `stoker train --resume {}`",
                            events_.stop() ? events_.stop_reason() : "another rank", state.step,
                            folder_.path().string()));
    if (group_ != nullptr) group_->leave();
  }

  void note_divergence(RunResult& result) {
    const State& state = setup_.state;
    reporter_.write_results();
    recorder_->note_end("diverged", state);
    if (!run_.no_report && state.best) make_report(folder_);
    result.divergence = divergence_text(state, run_);
  }

  void finish(RunResult& result, double seconds) {
    const bool is_early = result.end == RunEnd::kNoProgress;
    say_how_it_ended(folder_, result.end, task_of(*setup_.data.train), setup_.state, seconds);
    if (!reporter_.verdict().empty()) folder_.say("speed      " + reporter_.verdict());
    draw_predictions(folder_, run_, setup_.data);
    test(result);
    if (result.end == RunEnd::kStopped) return;
    recorder_->note_end(is_early ? "ended early" : "finished", setup_.state);
    if (!run_.no_report) make_report(folder_);
  }

  // The weights are saved: what fails here is made up for by resuming the run.
  void test(RunResult& result) {
    if (!can_test(setup_)) return;
    try {
      result.test = run_final_test(folder_, run_, setup_, events_);
    } catch (const Error&) {
      recorder_->note_end("failed in the test", setup_.state);
      throw;
    }
    if (result.test) {
      folder_.say(fmt::format("test       {}", to_text(*result.test)));
      recorder_->note_test(*result.test, setup_.state.step);
      return;
    }
    result.end = RunEnd::kStopped;
    recorder_->note_end("stopped", setup_.state);
    folder_.say(fmt::format("stopped by {} in the test; resume with `stoker train --resume {}`",
                            events_.stop_reason(), folder_.path().string()));
  }

  RunFolder& folder_;
  const RunSettings& run_;
  TrainSetup& setup_;
  const RunEvents& events_;
  Group* group_;
  std::string identity_;
  Checkpointing checkpoints_;
  TrainReporter reporter_;
  std::optional<RunRecorder> recorder_;
};

RunFolder new_folder(const RunSettings& run, const TrainSetup& setup, bool may_take) {
  RunFolder folder = may_take
                         ? RunFolder::create_or_take(run.output, run.experiment)
                         : RunFolder::create(run.output, run.experiment, default_run_name(run));
  const std::string policy = setup.data.policy.text();
  draw_first_batch(folder.path() / "train_batch0.png", images_of(run, setup.data),
                   fmt::format("{}, {}", run.data, policy.empty() ? "as it is" : policy));
  if (setup.rate_range) write_rate_range(folder.path(), *setup.rate_range);
  keep_identity(folder, setup.identity);
  RunSettings recorded = resolved(run, setup);
  recorded.experiment = folder.path().filename().string();
  // Last: what makes a folder a run that can be resumed.
  write_whole_file(folder.args(), recorded_yaml(recorded), "run's settings");
  return folder;
}

RunResult run_alone(RunRequest& request, const Launch& launch, const RunEvents& events) {
  RunSettings& run = request.settings;
  const bool may_take = resolve_resume(run);
  std::optional<RunFolder> folder;
  if (run.resume.empty()) {
    apply_named_settings(request);
  } else {
    folder.emplace(open_resumed(request));
  }
  TrainSetup setup = set_up(run, request.given, launch, events);
  setup.identity = identity_of(data_parts(setup));
  if (!folder) folder.emplace(new_folder(run, setup, may_take));
  folder->set_wording(events.wording);
  folder->listen(events.line);
  return RecordedRun(*folder, run, setup, events, nullptr).train();
}

ShareText text_of_rank_0(Group& group) {
  return [&group](const std::string& name, const std::string& own) {
    return group.share_text(name, own);
  };
}

RunResult run_as_rank_0(RunRequest& request, Group& group, const RunEvents& events) {
  RunSettings& run = request.settings;
  const bool may_take = resolve_resume(run);
  std::optional<RunFolder> folder;
  std::string resumed;  // settings; others may not see the folder
  if (run.resume.empty()) {
    apply_named_settings(request);
  } else {
    folder.emplace(open_resumed(request));
    resumed = resumed_settings(*folder);
  }
  static_cast<void>(group.share_text("resumed settings", resumed));
  TrainSetup setup = set_up(run, request.given, group.launch(), events, text_of_rank_0(group));
  check_agreement(run, setup, group);
  if (!folder) folder.emplace(new_folder(run, setup, may_take));
  static_cast<void>(group.share_text("folder", fs::absolute(folder->path()).string()));
  folder->set_wording(events.wording);
  folder->listen(events.line);
  return RecordedRun(*folder, run, setup, events, &group).train();
}

RunEnd train_logged(const RunSettings& run, TrainSetup& setup, Group& group, RankLog& log,
                    const RunEvents& events) {
  log.say(fmt::format("{} of {}, process {}, {}, {}", group.name_of(group.rank()), group.ranks(),
                      ::getpid(), setup.placement.device.device.str(),
                      setup.placement.threads.reason));
  const auto sync = make_sync(&group, setup.state, run);
  log.say(
      fmt::format("begins at epoch {}, step {}", setup.state.cursor.epoch + 1, setup.state.step));
  const RunEnd end =
      Trainer(
          setup.state, setup.data, run.train, log, [&] { return events.stop(); }, *sync)
          .run();
  group.leave();
  log.say(
      fmt::format("{} at step {}", end == RunEnd::kStopped ? "stopped" : "done", setup.state.step));
  return end;
}

RunResult run_as_other_rank(RunRequest& request, Group& group, const RunEvents& events) {
  RunSettings& run = request.settings;
  const std::string resumed = group.share_text("resumed settings", "");
  if (resumed.empty()) {
    apply_named_settings(request);
  } else {
    apply_resumed(request, resumed, "rank 0's settings");
  }
  TrainSetup setup = set_up(run, request.given, group.launch(), events, text_of_rank_0(group));
  check_agreement(run, setup, group);
  const fs::path folder = group.share_text("folder", "");
  RankLog log(folder, group.rank());
  try {
    const RunEnd end = train_logged(run, setup, group, log, events);
    return {.end = end,
            .folder = folder,
            .steps = setup.state.step,
            .divergence = end == RunEnd::kDiverged ? divergence_text(setup.state, run) : ""};
  } catch (const std::exception& error) {
    log.say(fmt::format("failed: {}", events.worded(error.what())));
    throw;
  }
}

GroupOptions group_options(const RunSettings& run, const Launch& launch) {
  const bool on_gpu = device_of_rank(run.compute.device, launch).starts_with("cuda");
  const std::string fitting = on_gpu ? "nccl" : "gloo";
  if (run.ranks.backend != "auto" && run.ranks.backend != fitting) {
    throw Error({.what = "the backend does not fit the device",
                 .expected = fmt::format("`dist_backend` {}", fitting),
                 .found = run.ranks.backend});
  }
  return {.timeout = run.ranks.timeout_ms(),
          .interface = run.ranks.interface,
          .device = on_gpu ? c10::DeviceType::CUDA : c10::DeviceType::CPU,
          .secret = read_rank_secret(run.ranks.secret_file)};
}

RunResult run_as_rank(RunRequest& request, const Launch& launch, const RunEvents& events,
                      const EndProcess& end_process) {
  Group group(launch, group_options(request.settings, launch));
  try {
    RunResult result;
    translate_torch_errors([&] {
      result = group.rank() == 0 ? run_as_rank_0(request, group, events)
                                 : run_as_other_rank(request, group, events);
    });
    return result;
  } catch (const GroupError& error) {
    if (end_process) end_process("", error);
    throw;
  } catch (const std::exception& error) {
    group.tell_failure(error.what());
    if (end_process) end_process(group.name_of(group.rank()), error);
    throw;
  }
}

}  // namespace

RunRequest request_of(const RunSettings& settings) {
  RunRequest request{.settings = settings, .given = {}};
  RunSettings defaults;
  const std::vector<Setting> here = settings_of(request.settings);
  const std::vector<Setting> there = settings_of(defaults);
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (texts_of(here[i]) != texts_of(there[i])) request.given.insert(here[i].name);
  }
  return request;
}

void apply_named_settings(RunRequest& request) {
  RunSettings& run = request.settings;
  if (!run.config.empty()) apply_settings_file(settings_of(run), request.given, run.config);
  if (!run.recipe.empty()) apply_recipe(settings_of(run), request.given, run.recipe);
}

std::string default_run_name(const RunSettings& settings) {
  fs::path data = settings.data;
  if (!data.has_filename()) data = data.parent_path();  // "flowers/"
  std::string name = data.filename().string();
  if (settings.model.empty()) return name;
  if (is_exported_network(settings.model)) {
    return fmt::format("{}-{}", name, fs::path(settings.model).stem().string());
  }
  return fmt::format("{}-{}", name, settings.model.substr(0, settings.model.find(':')));
}

RunResult train_run(const RunSettings& settings, const RunEvents& events) {
  return train_run(request_of(settings), events);
}

RunResult train_run(RunRequest request, const RunEvents& events, const EndProcess& end_process) {
  keep_freed_memory();
  const Launch launch = read_launch(request.settings.ranks.launch);
  if (launch.ranks > 1) return run_as_rank(request, launch, events, end_process);
  RunResult result;
  translate_torch_errors([&] { result = run_alone(request, launch, events); });
  return result;
}

}  // namespace stoker
