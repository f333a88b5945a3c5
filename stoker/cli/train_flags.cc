#include "stoker/cli/train_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/nn/families.h"

namespace stoker {
namespace {

void require_given(const std::string& value, const char* flag, const std::string& example) {
  if (!value.empty()) return;
  throw Error({.what = fmt::format("--{} is missing", flag),
               .expected = example,
               .hint = "Give it on the command line or in a --config file"});
}

void add_data_flags(CLI::App& command, TrainFlags& flags) {
  command
      .add_option("--data", flags.data,
                  fmt::format("data set by name ({}) or the path of a folder with its files; its "
                              "test part is what the val phase takes",
                              fmt::join(known_data_names(), ", ")))
      ->capture_default_str();
  command
      .add_option("--aa", flags.policy,
                  "augmentation: a preset (none, mnist) or a list such as "
                  "\"rotate(-15,15),noise(0.1)\"; see `stoker ops`")
      ->capture_default_str();
  command
      .add_option("--train-samples", flags.train_samples,
                  "train on so many, chosen by the seed; 0: all")
      ->capture_default_str();
  command.add_option("--mean", flags.mean, "of a channel (all, or one each), in [0, 1]")
      ->expected(1, 3)
      ->capture_default_str();
  command.add_option("--std", flags.deviation, "deviation: pixels become (value - mean) / std")
      ->expected(1, 3)
      ->capture_default_str();
  command.add_option("-b,--batch-size", flags.train.batch_size, "samples a batch")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  command
      .add_option("--batches-per-epoch", flags.train.batches_per_epoch,
                  "only so many random batches an epoch; 0: all samples")
      ->capture_default_str();
}

void add_model_flags(CLI::App& command, TrainFlags& flags) {
  std::vector<std::string> usages;
  for (const ModelFamily& family : model_families()) usages.push_back(family.usage);
  command.add_option("--model", flags.model, fmt::format("{}", fmt::join(usages, "; or ")))
      ->capture_default_str();
  command.add_option("--seed", flags.train.seed, "all randomness follows from it")
      ->capture_default_str();
  command.add_option("--epochs", flags.train.epochs, "how many")->capture_default_str();
  command.add_option("--smoothing", flags.train.smoothing, "label smoothing")
      ->capture_default_str();
  command
      .add_option("--patience", flags.train.patience,
                  "end after so many epochs without a better top-1; 0: never")
      ->capture_default_str();
  command.add_option("--topk", flags.train.top_k, "k of the top-k accuracy")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

void add_optimiser_flags(CLI::App& command, TrainFlags& flags) {
  OptimiserOptions& optimiser = flags.optimiser;
  command
      .add_option(
          "--opt", flags.opt,
          fmt::format("{}; sgd has Nesterov's momentum", fmt::join(optimiser_names(), ", ")))
      ->capture_default_str();
  command.add_option("--momentum", optimiser.momentum, "of sgd and momentum; 0: none")
      ->capture_default_str();
  command.add_option("--beta1", optimiser.beta1, "of adam and adamw")->capture_default_str();
  command.add_option("--beta2", optimiser.beta2, "of adam and adamw")->capture_default_str();
  command.add_option("--opt-eps", optimiser.epsilon, "of adam and adamw")->capture_default_str();
  command
      .add_option("--weight-decay", optimiser.weight_decay,
                  "of weights; biases and norms have none")
      ->capture_default_str();
  command.add_option("--clip-grad", flags.train.clip_grad, "largest norm of gradients; 0: any")
      ->capture_default_str();
  command
      .add_option("--grad-accum-steps", flags.train.grad_accum_steps,
                  "batches whose gradients make one step")
      ->capture_default_str();
}

void add_schedule_flags(CLI::App& command, TrainFlags& flags) {
  ScheduleOptions& schedule = flags.train.schedule;
  command.add_option("--lr", schedule.lr, "learning rate, the largest of the schedule")
      ->capture_default_str();
  command.add_option("--sched", flags.sched, fmt::format("{}", fmt::join(schedule_names(), ", ")))
      ->capture_default_str();
  command.add_option("--min-lr", schedule.min_lr, "no schedule goes below it")
      ->capture_default_str();
  command.add_option("--warmup-epochs", schedule.warmup_epochs, "rising from --warmup-lr to --lr")
      ->capture_default_str();
  command.add_option("--warmup-lr", schedule.warmup_lr, "where the warm-up starts")
      ->capture_default_str();
  command.add_option("--decay-epochs", schedule.decay_epochs, "step: how long each rate lasts")
      ->capture_default_str();
  command
      .add_option("--decay-rate", schedule.decay_rate, "step and plateau: what it is multiplied by")
      ->capture_default_str();
  command
      .add_option("--patience-epochs", schedule.patience_epochs,
                  "plateau: epochs without progress that are forgiven")
      ->capture_default_str();
}

void add_run_flags(CLI::App& command, TrainFlags& flags) {
  flags.compute.add_to(command);
  command.add_option("--output", flags.output, "folder of the runs' folders")
      ->capture_default_str();
  command.add_option("--experiment", flags.experiment, "name of the run; made up where not given")
      ->capture_default_str();
  command
      .add_option("--checkpoint-every", flags.checkpoint_every,
                  "how often to save all that is needed to go on: 50steps, 5min, 1epoch")
      ->capture_default_str();
  command.add_option("--keep", flags.keep, "how many checkpoints stay")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command.add_option("--config", flags.config, "YAML file with any of these flags");
  command.add_option("--resume", flags.resume, "go on with the run in this folder");
}

}  // namespace

void TrainFlags::add_to(CLI::App& command) {
  add_data_flags(command, *this);
  add_model_flags(command, *this);
  add_optimiser_flags(command, *this);
  add_schedule_flags(command, *this);
  add_run_flags(command, *this);
}

void TrainFlags::resolve() {
  require_given(data, "data",
                fmt::format("a data set, e.g. --data {}", known_data_names().front()));
  require_given(model, "model", "a network, e.g. --model mlp:784,128,10");
  optimiser.kind = parse_optimiser_kind(opt);
  train.schedule.sched = parse_schedule_kind(sched);
}

Preprocessing TrainFlags::preprocessing() const {
  return {.mean = per_channel_values(mean, "mean"),
          .deviation = per_channel_values(deviation, "std")};
}

const std::set<std::string>& flags_without_effect_on_the_result() {
  static const std::set<std::string> names = {"workers",          "device", "output", "experiment",
                                              "checkpoint-every", "keep",   "config", "resume"};
  return names;
}

std::array<double, 3> per_channel_values(const std::vector<double>& values, const char* flag) {
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() == 3) return {values[0], values[1], values[2]};
  throw Error({.what = fmt::format("--{} does not fit", flag),
               .expected = "one number, or one for each of three channels",
               .found = fmt::format("{}", values.size())});
}

}  // namespace stoker
