// `stoker train`: trains a model, alone or from where a run was broken off.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/rank_log.h"
#include "stoker/cli/recipes.h"
#include "stoker/cli/report_file.h"
#include "stoker/cli/run_folder.h"
#include "stoker/cli/run_pictures.h"
#include "stoker/cli/run_recorder.h"
#include "stoker/cli/torch_errors.h"
#include "stoker/cli/train_flags.h"
#include "stoker/cli/train_reporter.h"
#include "stoker/cli/train_setup.h"
#include "stoker/cli/yaml_flags.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/different_lines.h"
#include "stoker/core/digest.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/dist/group.h"
#include "stoker/image/png.h"
#include "stoker/report/line_plot.h"
#include "stoker/report/picture_grid.h"
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

// What the first batch looks like to the network.
void draw_first_batch(const fs::path& path, const TrainFlags& flags, const TrainData& data) {
  constexpr std::uint32_t kMost = 64;
  Feed feed(data.train, data.policy,
            {.workers = 1,
             .batch_size = std::min(kMost, flags.train.batch_size),
             .batches_per_epoch = 1,
             .seed = flags.train.seed,
             .pixel_type = PixelType::kU8,
             .isolate = flags.train.isolate,
             .on_error = flags.train.on_error,
             .max_errors = flags.train.max_errors});
  const auto batch = feed.next();
  if (!batch) return;
  std::vector<GridPicture> pictures;
  const ImageShape& shape = batch->image_shape();
  for (std::uint32_t slot = 0; slot < batch->size(); ++slot) {
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(batch->pixels_of(slot).data());
    const auto label = static_cast<std::size_t>(batch->labels()[slot]);
    pictures.push_back({.image = Image(ImageView{pixels, shape, shape.bytes_per_row()}),
                        .label = data.train->class_names().at(label)});
  }
  write_png(path, picture_grid(pictures,
                               {.title = fmt::format(
                                    "{}, {}", flags.data,
                                    data.policy.text().empty() ? "as it is" : data.policy.text())})
                      .view());
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

std::int64_t count_of(const std::vector<NamedTensor>& tensors) {
  std::int64_t count = 0;
  for (const NamedTensor& named : tensors) count += named.tensor.numel();
  return count;
}

void introduce(RunFolder& folder, const TrainFlags& flags, const TrainSetup& setup) {
  const Source& train = *setup.data.train;
  folder.say(fmt::format("run        {}", folder.path().string()));
  folder.say(
      fmt::format("data       {}: {} samples to train, {} to validate, {}, {} classes, "
                  "augmentation {}",
                  flags.data, train.size(), setup.data.validation->size(),
                  shape_text(setup.state.model->input().image), train.class_names().size(),
                  setup.data.policy.text().empty() ? "none" : setup.data.policy.text()));
  folder.say(fmt::format("model      {}, {} parameters", setup.state.model->architecture(),
                         parameter_count(*setup.state.model)));
  if (!setup.pretrained.empty()) {
    folder.say(fmt::format("weights    {}\n{}", flags.pretrained, setup.pretrained));
  }
  const Model& model = *setup.state.model;
  if (model.frozen() > 0) {
    folder.say(fmt::format("frozen     {} of {} stages; {} parameters are trained", model.frozen(),
                           model.stages().size(), count_of(model.trainable_parameters())));
  }
  for (const std::string& note : setup.notes) folder.say(fmt::format("chosen     {}", note));
  const ChosenDevice& device = setup.placement.device;
  folder.say(
      fmt::format("device     {} ({}), {}", device.device.str(), device.reason, flags.precision()));
  folder.say(fmt::format("threads    {}", setup.placement.threads.reason));
}

void introduce(RunFolder& folder, const Group& group) {
  folder.say(fmt::format("ranks      {}, by {}, meeting at {}:{}", group.ranks(),
                         group.launch().launcher, group.launch().master_address,
                         group.launch().master_port));
  for (int rank = 0; rank < group.ranks(); ++rank) {
    folder.say(fmt::format("           {}", group.name_of(rank)));
  }
}

void say_where_it_goes_on(RunFolder& folder, const Checkpointing::Restored& restored,
                          const State& state) {
  for (const std::string& reason : restored.damaged) {
    folder.say(fmt::format("passed over a checkpoint: {}", reason));
  }
  if (restored.path.empty()) {
    folder.say("resume     no checkpoint yet: from the start");
  } else {
    folder.say(fmt::format("resume     {}: epoch {}, step {}", restored.path.filename().string(),
                           state.cursor.epoch + 1, state.step));
  }
}

void say_how_it_ended(RunFolder& folder, RunEnd end, const State& state, double seconds) {
  if (end == RunEnd::kNoProgress) folder.say("ended early: no better epoch for --patience epochs");
  if (state.best) {
    folder.say(fmt::format("best       epoch {}: val top-1 {:.2f} %  ({})", state.best->epoch + 1,
                           100 * state.best->top1, folder.best_weights().string()));
  }
  folder.say(
      fmt::format("time       {:.1f} s in this process, {} steps in all", seconds, state.step));
}

PictureSources pictures_of(const TrainFlags& flags, const TrainData& data) {
  return {.train = data.train,
          .validation = data.validation,
          .policy = data.policy,
          .validation_policy = data.validation_policy,
          .seed = flags.train.seed,
          .isolate = flags.train.isolate};
}

std::uint64_t epoch_samples(const TrainFlags& flags, const Source& train) {
  return plan_of({.batch_size = flags.train.batch_size,
                  .batches_per_epoch = flags.train.batches_per_epoch,
                  .drop_last = flags.train.drop_last},
                 train.size())
      .samples_per_epoch();
}

// What a report says of the run beside its settings.
nlohmann::ordered_json facts_of(const TrainFlags& flags, const TrainSetup& setup,
                                const std::string& settings) {
  const Model& model = *setup.state.model;
  const ImageShape& shape = model.input().image;
  nlohmann::ordered_json machine = machine_facts();
  machine["device"] =
      fmt::format("{} ({})", setup.placement.device.device.str(), setup.placement.device.reason);
  machine["threads"] = setup.placement.threads.reason;
  nlohmann::ordered_json versions = program_versions();
  versions["libtorch"] = TORCH_VERSION;
  Digest digest;
  digest.add_text(settings);
  return {{"data",
           {{"name", flags.data},
            {"train_samples", setup.data.train->size()},
            {"validation_samples", setup.data.validation->size()},
            {"shape", {shape.height, shape.width, shape.channels}},
            {"augmentation", setup.data.policy.text()},
            {"validation_framing", setup.data.validation_policy.text()}}},
          {"classes", setup.data.train->class_names()},
          {"model",
           {{"architecture", model.architecture()},
            {"parameters", parameter_count(model)},
            {"trained_parameters", count_of(model.trainable_parameters())}}},
          {"seed", flags.train.seed},
          {"epoch_samples", epoch_samples(flags, *setup.data.train)},
          {"machine", std::move(machine)},
          {"versions", std::move(versions)},
          {"settings_digest", digest.hex()},
          {"first_batch_digest",
           first_batch_digest(pictures_of(flags, setup.data), flags.train.batch_size)}};
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

RunFolder open_folder(CLI::App& command, TrainFlags& flags) {
  RunFolder folder = RunFolder::open(flags.output, flags.resume);
  apply_yaml(command, folder.args());
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

// Alone, or as rank 0 of a group: all that a run writes is written here.
void run_in(RunFolder& folder, CLI::App& command, TrainFlags& flags, TrainSetup& setup,
            Group* group = nullptr) {
  const StopSignals signals;
  const auto start = std::chrono::steady_clock::now();
  const std::string settings =
      to_yaml(resolved_values(command, flags, setup, flags_without_effect_on_the_result()));
  introduce(folder, flags, setup);
  if (group != nullptr) introduce(folder, *group);
  State& state = setup.state;
  Checkpointing checkpoints(folder.checkpoints(), setup.interval, flags.keep, settings);
  TrainReporter reporter(folder, checkpoints,
                         {.epochs = flags.train.epochs,
                          .top_k = flags.train.top_k,
                          .card = {.architecture = state.model->architecture(),
                                   .input = state.model->input(),
                                   .class_names = setup.data.train->class_names(),
                                   .preprocessing = flags.preprocessing()},
                          .fixed_stages = setup.fixed_stages});
  if (!flags.resume.empty()) {
    say_where_it_goes_on(folder, checkpoints.restore(state), state);
    reporter.resume_at(state.cursor);
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
  say_how_it_ended(folder, end, state,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  draw_predictions(folder, flags, setup.data);
  recorder.note_end(end == RunEnd::kNoProgress ? "ended early" : "finished", state);
  if (!flags.no_report) make_report(folder);
}

void apply_named_settings(CLI::App& command, const TrainFlags& flags) {
  if (!flags.config.empty()) apply_yaml(command, flags.config);
  if (!flags.recipe.empty()) apply_recipe(command, flags.recipe);
}

RunFolder new_folder(CLI::App& command, const TrainFlags& flags, const TrainSetup& setup) {
  RunFolder folder = flags.take_folder
                         ? RunFolder::create_or_take(flags.output, flags.experiment)
                         : RunFolder::create(flags.output, flags.experiment, default_name(flags));
  draw_first_batch(folder.path() / "train_batch0.png", flags, setup.data);
  if (setup.rate_range) write_rate_range(folder.path(), *setup.rate_range);
  FlagValues values = resolved_values(command, flags, setup, {});
  set_flag_value(values, "experiment", folder.path().filename().string());
  // Last: what makes a folder a run that can be resumed.
  write_whole_file(folder.args(), to_yaml(values), "run's settings");
  return folder;
}

void run_alone(CLI::App& command, TrainFlags& flags) {
  resolve_resume(flags);
  if (!flags.resume.empty()) {
    RunFolder folder = open_folder(command, flags);
    TrainSetup setup = set_up(flags);
    run_in(folder, command, flags, setup);
    return;
  }
  apply_named_settings(command, flags);
  TrainSetup setup = set_up(flags);
  RunFolder folder = new_folder(command, flags, setup);
  run_in(folder, command, flags, setup);
}

// All ranks must mean the same run. Threads may differ as machines do.
void check_same_settings(CLI::App& command, const TrainFlags& flags, const TrainSetup& setup,
                         Group& group) {
  FlagValues values = resolved_values(command, flags, setup, flags_without_effect_on_the_result());
  std::erase_if(values, [](const auto& value) { return value.first == "threads"; });
  const std::string own = to_yaml(values), rank_0s = group.share_text("settings", own);
  if (own == rank_0s) return;
  const auto [line, line_of_0] = first_different_lines(own, rank_0s);
  throw Error(
      {.what = fmt::format("{} was started with other settings", group.name_of(group.rank())),
       .expected = fmt::format("\"{}\", as rank 0 has it", line_of_0),
       .found = fmt::format("\"{}\"", line)});
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run_as_rank_0(CLI::App& command, TrainFlags& flags, Group& group) {
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
  check_same_settings(command, flags, setup, group);
  if (!folder) folder.emplace(new_folder(command, flags, setup));
  static_cast<void>(group.share_text("folder", fs::absolute(folder->path()).string()));
  run_in(*folder, command, flags, setup, &group);
}

void run_as_other_rank(CLI::App& command, TrainFlags& flags, Group& group) {
  const std::string settings = group.share_text("resumed settings", "");
  if (settings.empty()) {
    apply_named_settings(command, flags);
  } else {
    apply_yaml_text(command, settings, "rank 0's settings");
  }
  TrainSetup setup = set_up(flags);
  check_same_settings(command, flags, setup, group);
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

void run_as_rank(CLI::App& command, TrainFlags& flags) {
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
    end_at_once(fmt::format("{}: {}", group.name_of(group.rank()), error.what()));
  }
}

void run(CLI::App& command, TrainFlags& flags) {
  keep_freed_memory();
  flags.launch = read_launch(flags.dist.launch);
  if (flags.launch.ranks == 1) {
    run_alone(command, flags);
  } else {
    run_as_rank(command, flags);
  }
}

}  // namespace

void add_train_command(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("train", "Train a model, or go on with a run");
  auto flags = std::make_shared<TrainFlags>();
  flags->add_to(*command);
  command->callback([flags, command] { in_our_words([&] { run(*command, *flags); }); });
}

}  // namespace stoker
