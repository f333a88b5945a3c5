// `stoker train`: trains a model, alone or from where a run was broken off.
#include <fmt/format.h>

#include "stoker/cli/commands/commands.h"
#include "stoker/cli/place_model.h"
#include "stoker/cli/recipes.h"
#include "stoker/cli/run_folder.h"
#include "stoker/cli/train_flags.h"
#include "stoker/cli/train_reporter.h"
#include "stoker/cli/yaml_flags.h"
#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/core/pages.h"
#include "stoker/data/catalog.h"
#include "stoker/data/subset.h"
#include "stoker/image/png.h"
#include "stoker/nn/pretrained.h"
#include "stoker/nn/registry.h"
#include "stoker/report/picture_grid.h"
#include "stoker/train/stop_signals.h"
#include "stoker/train/trainer.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// Everything that the flags stand for.
struct Setup {
  TrainData data;
  std::string pretrained;  // what was taken from --pretrained
  Placement placement;
  State state;
  CheckpointInterval interval;
};

TrainingPair open_pair(const TrainFlags& flags) {
  const DataOptions options{.pictures = {.limits = flags.limits}};
  if (flags.validation_data.empty()) {
    return open_training_pair(flags.data, flags.validation_every, options);
  }
  return {.train = open_data(flags.data, Split::kTrain, options),
          .validation = open_data(flags.validation_data, Split::kJudged, options)};
}

TrainData open_train_data(TrainFlags& flags) {
  auto [train, validation] = open_pair(flags);
  flags.normalise.resolve(train->channels());
  if (flags.train_samples > 0) {
    train = std::make_shared<Subset>(train, flags.train_samples, flags.train.seed);
  }
  check_class_names(train->class_names(), validation->class_names(), flags.data);
  return {.train = train,
          .validation = validation,
          .policy = Policy::parse(flags.policy),
          .validation_policy = flags.resolved_validation_policy(),
          .normalisation = flags.preprocessing().normalisation()};
}

// Fails where it must before anything is written.
Setup set_up(TrainFlags& flags) {
  flags.resolve();
  for (std::string* data : {&flags.data, &flags.validation_data, &flags.pretrained}) {
    if (fs::exists(*data)) *data = fs::absolute(*data).string();
  }
  TrainData data = open_train_data(flags);
  const ModelInput input{.image = sample_shape(*data.train, data.policy),
                         .classes = static_cast<std::int64_t>(data.train->class_names().size())};
  auto model = make_model(flags.model, input, flags.train.seed);
  std::string pretrained;
  if (!flags.pretrained.empty()) pretrained = load_pretrained(*model, flags.pretrained);
  model->freeze(flags.frozen_stages(model->stages().size()));
  Placement placement = place_model(*model, flags.compute, flags.train.batch_size);
  flags.train.workers = placement.threads.workers;
  flags.train.validation_batch_size = default_evaluation_batch(input.image);
  Setup setup{.data = std::move(data),
              .pretrained = std::move(pretrained),
              .placement = std::move(placement),
              .state = State(std::move(model), flags.optimiser),
              .interval = parse_checkpoint_interval(flags.checkpoint_every)};
  Observer nobody;
  static_cast<void>(Trainer(setup.state, setup.data, flags.train, nobody));  // checks its options
  return setup;
}

// The flags with what was chosen in place of 0 and auto.
FlagValues resolved_values(const CLI::App& command, const TrainFlags& flags, const Setup& setup,
                           const std::set<std::string>& left_out) {
  std::set<std::string> without = left_out;
  without.insert({"config", "resume"});
  FlagValues values = flag_values(command, without);
  set_flag_value(values, "data", flags.data);
  set_flag_value(values, "val-data", flags.validation_data);
  set_flag_value(values, "pretrained", flags.pretrained);
  set_flag_values(values, "mean", flags.normalise.mean);
  set_flag_values(values, "std", flags.normalise.deviation);
  set_flag_value(values, "model", setup.state.model->architecture());
  set_flag_value(values, "threads", std::to_string(setup.placement.threads.compute));
  if (!left_out.contains("workers")) {
    set_flag_value(values, "workers", std::to_string(setup.placement.threads.workers));
    set_flag_value(values, "device", setup.placement.device.device.str());
  }
  return values;
}

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

std::int64_t count_of(const std::vector<NamedTensor>& tensors) {
  std::int64_t count = 0;
  for (const NamedTensor& named : tensors) count += named.tensor.numel();
  return count;
}

void introduce(RunFolder& folder, const TrainFlags& flags, const Setup& setup) {
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
  const ChosenDevice& device = setup.placement.device;
  folder.say(fmt::format("device     {} ({})", device.device.str(), device.reason));
  folder.say(fmt::format("threads    {}", setup.placement.threads.reason));
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

RunEnd train_and_note_faults(Trainer trainer, const TrainReporter& reporter) {
  try {
    return trainer.run();
  } catch (const TooManyFaults& error) {
    reporter.write_faults(error.faults());
    throw;
  }
}

RunFolder open_folder(CLI::App& command, TrainFlags& flags) {
  RunFolder folder = RunFolder::open(flags.output, flags.resume);
  apply_yaml(command, folder.args());
  return folder;
}

void run_in(RunFolder& folder, CLI::App& command, TrainFlags& flags, Setup& setup) {
  const StopSignals signals;
  const auto start = std::chrono::steady_clock::now();
  const std::string settings =
      to_yaml(resolved_values(command, flags, setup, flags_without_effect_on_the_result()));
  introduce(folder, flags, setup);
  State& state = setup.state;
  Checkpointing checkpoints(folder.checkpoints(), setup.interval, flags.keep, settings);
  TrainReporter reporter(folder, checkpoints,
                         {.epochs = flags.train.epochs,
                          .top_k = flags.train.top_k,
                          .class_names = setup.data.train->class_names(),
                          .preprocessing = flags.preprocessing()});
  if (!flags.resume.empty()) {
    say_where_it_goes_on(folder, checkpoints.restore(state), state);
    reporter.resume_at(state.cursor);
  }
  const RunEnd end = train_and_note_faults(
      Trainer(state, setup.data, flags.train, reporter, [&] { return signals.received() != 0; }),
      reporter);
  if (end == RunEnd::kStopped) {
    checkpoints.save(state);
    folder.say(fmt::format("stopped by signal {} at step {}; go on with `stoker train --resume {}`",
                           signals.received(), state.step, folder.path().string()));
    throw ExitRequest{kStoppedExitCode};
  }
  say_how_it_ended(folder, end, state,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

void run(CLI::App& command, TrainFlags& flags) {
  keep_freed_memory();
  if (!flags.resume.empty()) {
    RunFolder folder = open_folder(command, flags);
    Setup setup = set_up(flags);
    run_in(folder, command, flags, setup);
    return;
  }
  if (!flags.config.empty()) apply_yaml(command, flags.config);
  if (!flags.recipe.empty()) apply_recipe(command, flags.recipe);
  Setup setup = set_up(flags);
  RunFolder folder = RunFolder::create(flags.output, flags.experiment, default_name(flags));
  draw_first_batch(folder.path() / "train_batch0.png", flags, setup.data);
  FlagValues values = resolved_values(command, flags, setup, {});
  set_flag_value(values, "experiment", folder.path().filename().string());
  // Last: what makes a folder a run that can be resumed.
  write_whole_file(folder.args(), to_yaml(values), "run's settings");
  run_in(folder, command, flags, setup);
}

}  // namespace

void add_train_command(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("train", "Train a model, or go on with a run");
  auto flags = std::make_shared<TrainFlags>();
  flags->add_to(*command);
  command->callback([flags, command] { run(*command, *flags); });
}

}  // namespace stoker
