#include "stoker/cli/train_flags.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/cli/recipes.h"
#include "stoker/core/error.h"
#include "stoker/data/catalog.h"
#include "stoker/nn/networks/families.h"

namespace stoker {
namespace {

void require_given(const std::string& value, const char* flag, const std::string& example) {
  if (!value.empty()) return;
  throw Error({.what = fmt::format("--{} is missing", flag),
               .expected = example,
               .hint = "Give it on the command line or in a --config file"});
}

// Of a flag that may also be "auto".
template <class T>
T number_of(const std::string& text, const char* flag, T least, T most) {
  T number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && number >= least && number <= most) return number;
  throw Error({.what = fmt::format("--{} does not fit", flag),
               .expected = fmt::format("a number from {} to {}, or auto", least, most),
               .found = fmt::format("\"{}\"", text)});
}

void add_data_flags(const Command& command, TrainFlags& flags) {
  command.add_option("--data", flags.data,
                     data_help() + "; its test part is evaluated once, at the end");
  flags.validation.add_to(command);
  command.add_option("--aa", flags.policy,
                     "augmentation: a preset (mnist, imagenet-train, …) or a list such as "
                     "\"rotate(-15,15),noise(0.1)\"; see `stoker ops`");
  command.add_option(
      "--val-aa", flags.validation_policy,
      "what gives validation pictures their size, e.g. \"resize(224,224)\"; auto: the "
      "middle 7/8 where --aa begins with a size");
  command.add_flag("--skip-unknown", flags.skip_unknown,
                   "train without images of formats that cannot be read (TIFF, BMP, GIF, …)");
  command.add_flag("--exact-decode", flags.train.exact_decode,
                   "never decode JPEGs at a half, a quarter or an eighth");
  command.add_option(
      "--train-samples", flags.train_samples,
      "train on N random samples, chosen by the seed, or with first:N on the first N; "
      "0: all");
  flags.normalise.add_to(command);
  add_max_pixels_flag(command, flags.limits);
  flags.shards.add_to(command);
  command.add_option("-b,--batch-size", flags.batch_size,
                     "samples a batch; auto: tries what suits the machine");
  command
      .add_option("--sampler", flags.sampler,
                  "balanced: pictures of rarer classes come again until all classes are as large")
      .one_of({"shuffle", "balanced"});
  command.add_option("--batches-per-epoch", flags.train.batches_per_epoch,
                     "random batches of different samples in an epoch; more than the data has make "
                     "several passes over it; 0: all samples once");
}

void add_model_flags(const Command& command, TrainFlags& flags) {
  std::vector<std::string> usages;
  for (const ModelFamily& family : model_families()) usages.push_back(family.usage);
  command.add_option("--model", flags.model, fmt::format("{}", fmt::join(usages, "; or ")));
  command.add_option("--pretrained", flags.pretrained,
                     "weights to start from: safetensors or a .pth file; a head for other classes "
                     "is replaced");
  command.add_flag("--allow-nonfinite", flags.allow_nonfinite,
                   "accept --pretrained weights that are NaN or infinite");
  command.add_option("--freeze", flags.freeze,
                     "what stays as it is: all (but the last layer), none, or the first N stages");
  command.add_option("--unfreeze-epoch", flags.train.unfreeze_epoch,
                     "after so many epochs, what is frozen learns too; 0: never");
  command
      .add_option("--features", flags.features,
                  "with --freeze all: cached makes --views versions of each picture and keeps what "
                  "the last layer sees of them; fresh makes new ones in every epoch")
      .one_of({"fresh", "cached"});
  command.add_option("--views", flags.views, "with --features cached: versions of each picture")
      .between(1, 1 << 20);
  command.add_option("--seed", flags.train.seed, "all randomness follows from it");
  command.add_option("--epochs", flags.train.epochs, "how many");
  MixOptions& mix = flags.train.mix;
  command.add_option("--mixup", mix.mixup_alpha, "alpha of Mixup; 0: none");
  command.add_option("--cutmix", mix.cutmix_alpha, "alpha of CutMix; 0: none");
  command.add_option("--mixup-prob", mix.probability, "share of batches that are mixed");
  command.add_option("--mixup-switch-prob", mix.switch_probability,
                     "share of those that get CutMix where both are on");
  command.add_option("--smoothing", flags.train.smoothing, "label smoothing");
  command
      .add_option("--class-weights", flags.class_weights,
                  "of the loss: balanced counts rarer classes more")
      .one_of({"none", "balanced"});
  command.add_flag("--model-ema", flags.average,
                   "validate and save a moving average of the weights");
  command.add_option("--model-ema-decay", flags.average_options.decay,
                     "what stays of the average in a step");
  command.add_flag("--model-ema-warmup", flags.average_options.warmup,
                   "a lower decay in the first steps");
  command.add_option("--patience", flags.train.patience,
                     "end after so many epochs without a better top-1; 0: never");
  command.add_option("--topk", flags.train.top_k, "k of the top-k accuracy").between(1, 1 << 20);
}

void add_loss_flags(const Command& command, TrainFlags& flags) {
  const std::vector<std::string> losses(loss_names().begin(), loss_names().end());
  command
      .add_option("--loss", flags.loss,
                  "cross-entropy, or mse: half the squared error of the activated output against "
                  "one-hot targets")
      .one_of(losses);
  command
      .add_option("--grad-reduction", flags.grad_reduction,
                  "gradient of a step: mean or sum over its samples")
      .one_of({"mean", "sum"});
}

void add_frozen_flags(const Command& command, TrainFlags& flags) {
  command
      .add_flag("--freeze-norms,!--no-freeze-norms", flags.freeze_norms,
                "batch norms of frozen stages use their running statistics (default); with "
                "--no-freeze-norms they normalise by the batch and update them")
      .default_text("true");
  command
      .add_option("--val-features", flags.validation_features,
                  "with --freeze all: cached computes what the last layer sees of the validation "
                  "images once; fresh computes it in every epoch")
      .one_of({"cached", "fresh"});
}

void add_optimiser_flags(const Command& command, TrainFlags& flags) {
  OptimiserOptions& optimiser = flags.optimiser;
  command.add_option(
      "--opt", flags.opt,
      fmt::format("{}; sgd has Nesterov's momentum", fmt::join(optimiser_names(), ", ")));
  command.add_option("--momentum", optimiser.momentum, "of sgd and momentum; 0: none");
  command.add_option("--beta1", optimiser.beta1, "of adam and adamw");
  command.add_option("--beta2", optimiser.beta2, "of adam and adamw");
  command.add_option("--opt-eps", optimiser.epsilon, "of adam and adamw");
  command.add_option("--weight-decay", optimiser.weight_decay,
                     "of weights; biases and norms have none");
  command.add_option("--layer-decay", optimiser.layer_decay,
                     "each stage learns at this share of the next one's rate");
  command.add_option("--clip-grad", flags.train.clip_grad, "largest norm of gradients; 0: any");
  command.add_option("--grad-accum-steps", flags.train.grad_accum_steps,
                     "batches whose gradients make one step");
}

void add_schedule_flags(const Command& command, TrainFlags& flags) {
  ScheduleOptions& schedule = flags.train.schedule;
  command.add_option("--lr", flags.lr,
                     "learning rate, the largest of the schedule; auto: tries which suits");
  command.add_option("--sched", flags.sched, fmt::format("{}", fmt::join(schedule_names(), ", ")));
  command.add_option("--min-lr", schedule.min_lr, "no schedule goes below it");
  command.add_option("--warmup-epochs", schedule.warmup_epochs, "rising from --warmup-lr to --lr");
  command.add_option("--warmup-lr", schedule.warmup_lr, "where the warm-up starts");
  command.add_option("--decay-epochs", schedule.decay_epochs, "step: how long each rate lasts");
  command.add_option("--decay-first-epochs", schedule.decay_first_epochs,
                     "step: how long the first rate lasts; 0: as long as the others");
  command.add_option("--decay-rate", schedule.decay_rate,
                     "step and plateau: what it is multiplied by");
  command.add_option("--patience-epochs", schedule.patience_epochs,
                     "plateau: epochs without progress that are forgiven");
}

void add_run_flags(const Command& command, TrainFlags& flags) {
  flags.compute.add_to(command);
  flags.dist.add_to(command);
  command.add_flag("--amp", flags.amp, "convolutions and products in --amp-dtype");
  command
      .add_option("--amp-dtype", flags.amp_type,
                  "bfloat16, or float16 with scaled gradients (CUDA)")
      .one_of({"bfloat16", "float16"});
  command
      .add_option("--on-error", flags.on_error,
                  "unreadable sample: stop the run, or skip it: the next one takes its place, and "
                  "in validation none")
      .one_of({"stop", "skip"});
  command
      .add_option("--on-divergence", flags.on_divergence,
                  "loss not finite, or above 10 times that of the first 50 steps for 200 steps: "
                  "stop the run, or continue")
      .one_of({"continue", "stop"});
  command.add_flag("--isolate", flags.train.isolate,
                   "decode in locked-down processes, for files that are not trusted");
  command.add_option("--max-errors", flags.train.max_errors,
                     "with skip: more different samples end the run");
  command.add_option("--output", flags.output, "folder of the runs' folders");
  command.add_option("--experiment", flags.experiment, "name of the run; made up where not given");
  command.add_option("--checkpoint-every", flags.checkpoint_every,
                     "how often to save all that is needed to go on: 50steps, 5min, 1epoch; auto: "
                     "after an epoch, as long as saving takes under 5 % of the time");
  command.add_option("--keep", flags.keep, "how many checkpoints stay").between(1, 1 << 20);
  command.add_flag("--tensorboard", flags.record.tensorboard,
                   "write event files for TensorBoard into the run's folder");
  command.add_flag("--histograms", flags.record.histograms,
                   "with --tensorboard: of the weights, after every epoch");
  command.add_flag("--log-json", flags.record.json_lines, "write log.jsonl, a JSON object a line");
  command.add_flag("--no-report", flags.no_report, "leave out report.html at the end");
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  command.add_option(
      "--recipe", flags.recipe,
      fmt::format("named settings for flags that are not given: {}", fmt::join(names, ", ")));
  command.add_option("--config", flags.config, "YAML file with any of these flags");
  command.add_option(
      "--resume", flags.resume,
      "go on with the run in this folder; auto: with --experiment if it is there, else "
      "begin it");
  command.add_flag("--accept-changed-data", flags.accept_changed_data,
                   "with --resume: continue although the data has changed; the report says so");
}

}  // namespace

void TrainFlags::add_to(const Command& command) {
  add_data_flags(command, *this);
  add_model_flags(command, *this);
  add_frozen_flags(command, *this);
  add_loss_flags(command, *this);
  add_optimiser_flags(command, *this);
  add_schedule_flags(command, *this);
  add_run_flags(command, *this);
}

void TrainFlags::resolve() {
  require_given(data, "data",
                fmt::format("a data set, e.g. --data {}", known_data_names().front()));
  require_given(model, "model", "a network, e.g. --model mlp:784,128,10");
  validation.check();
  optimiser.kind = parse_optimiser_kind(opt);
  if (batch_size != "auto") {
    constexpr std::uint32_t kMostSamples = 1 << 24;
    train.batch_size = number_of(batch_size, "batch-size", std::uint32_t{1}, kMostSamples);
  }
  if (lr != "auto") train.schedule.lr = number_of(lr, "lr", 0.0, 1e6);
  train.schedule.sched = parse_schedule_kind(sched);
  train.loss = parse_loss_kind(loss);
  train.grad_reduction = grad_reduction == "sum" ? GradReduction::kSum : GradReduction::kMean;
  train.cached_views = features == "cached" ? views : 0;
  train.cached_validation = validation_features == "cached";
  train.shared_statistics = dist.sync_bn;
  train.on_error = on_error == "skip" ? OnError::kSkip : OnError::kStop;
  train.on_divergence = on_divergence == "continue" ? OnDivergence::kContinue : OnDivergence::kStop;
  train.stall_limit = std::chrono::seconds(30);
  train.on_stall = [](const std::string& sample, double seconds) {
    fmt::print(stderr, "\na worker has been busy with {} for {:.0f} s\n", sample, seconds);
  };
}

AverageOptions TrainFlags::averaging() const {
  return average ? average_options : AverageOptions{};
}

std::size_t TrainFlags::frozen_stages(std::size_t stages) const {
  if (freeze == "none") return 0;
  if (freeze == "all") return stages - 1;
  std::size_t count = 0;
  const char* end = freeze.data() + freeze.size();
  const auto read = std::from_chars(freeze.data(), end, count);
  if (read.ec == std::errc{} && read.ptr == end && count < stages) return count;
  throw Error({.what = "--freeze does not fit",
               .expected = fmt::format("all, none, or a number of stages, at most {}", stages - 1),
               .found = fmt::format("\"{}\"", freeze)});
}

Preprocessing TrainFlags::preprocessing() const {
  return {.mean = normalise.means(),
          .deviation = normalise.deviations(),
          .framing = resolved_validation_policy().text()};
}

Policy TrainFlags::resolved_validation_policy() const {
  if (validation_policy != "auto") return Policy::parse(validation_policy);
  const Policy training = Policy::parse(policy);
  if (training.framing() == nullptr) return {};
  const int height = training.framing()->output_height();
  const int width = training.framing()->output_width();
  if (height != width) return Policy::parse(fmt::format("resize({},{})", height, width));
  return Policy::parse(fmt::format("resize_crop({},{})", height * 8 / 7, height));
}

const std::set<std::string>& flags_without_effect_on_the_result() {
  static const std::set<std::string> names = {"workers",
                                              "max-errors",
                                              "device",
                                              "output",
                                              "experiment",
                                              "checkpoint-every",
                                              "keep",
                                              "config",
                                              "resume",
                                              "tensorboard",
                                              "histograms",
                                              "log-json",
                                              "no-report",
                                              "rank",
                                              "world-size",
                                              "master-addr",
                                              "master-port",
                                              "dist-backend",
                                              "timeout",
                                              "dist-interface",
                                              "reduce",
                                              "cache-dir",
                                              "cache-size",
                                              "store-tries",
                                              "store-timeout",
                                              "on-divergence",
                                              "allow-nonfinite",
                                              "accept-changed-data",
                                              "skip-unknown",
                                              "val-features"};
  return names;
}

}  // namespace stoker
