// Every setting of a training run: name, help, place, scope, range. In timm's spelling where timm
// has it.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stoker/data/data_settings.h"
#include "stoker/nn/networks/families.h"
#include "stoker/run/recipes.h"
#include "stoker/run/run_settings.h"

namespace stoker {
namespace {

using enum SettingScope;
using Settings = std::vector<Setting>;

constexpr SettingRange kCount{1, 1 << 20};
constexpr SettingRange kBatchSizes{1, 1 << 24};
constexpr SettingRange kThreads{0, 4096};

const std::array<std::string, 2> kReductions = {"mean", "sum"};
const std::array<std::string, 2> kOnError = {"stop", "skip"};
const std::array<std::string, 2> kOnDivergence = {"continue", "stop"};

Settings data_settings(RunSettings& run) {
  Settings all = {{.name = "data",
                   .help = data_help() + "; its test part is evaluated once, at the end",
                   .place = &run.data}};
  append_settings(all, "", settings_of(run.validation));
  append_settings(
      all, "",
      {{.name = "aa",
        .help = "augmentation: a preset (mnist, imagenet-train, …) or a list such as "
                "\"rotate(-15,15),noise(0.1)\"; see `stoker ops`",
        .place = &run.policy},
       {.name = "val-aa",
        .help = "what gives validation pictures their size, e.g. \"resize(224,224)\"; auto: the "
                "middle 7/8 where --aa begins with a size",
        .place = &run.validation_policy},
       {.name = "skip-unknown",
        .help = "train without images of formats that cannot be read (TIFF, BMP, GIF, …)",
        .place = &run.skip_unknown,
        .scope = kRun},
       {.name = "exact-decode",
        .help = "never decode JPEGs at a half, a quarter or an eighth",
        .place = &run.train.feed.framing.exact_decode},
       {.name = "train-samples",
        .help = "train on N random samples, chosen by the seed, or with first:N on the first N; "
                "0: all",
        .place = &run.train_samples}});
  append_settings(all, "", settings_of(run.normalise));
  append_settings(all, "", settings_of(run.limits));
  append_settings(all, "", settings_of(run.shards));
  append_settings(
      all, "",
      {{.name = "batch-size",
        .help = "samples a batch; auto: tries what suits the machine",
        .place = auto_text(run.auto_batch_size, run.train.feed.batch_size, kBatchSizes),
        .letter = 'b'},
       {.name = "sampler",
        .help = "balanced: pictures of rarer classes come again until all classes are as large",
        .place = either_text(run.balanced_samples, "shuffle", "balanced"),
        .choices = {"shuffle", "balanced"}},
       {.name = "batches-per-epoch",
        .help = "random batches of different samples in an epoch; more than the data has make "
                "several passes over it; 0: all samples once",
        .place = &run.train.feed.batches_per_epoch}});
  return all;
}

Settings model_settings(RunSettings& run) {
  std::vector<std::string> usages;
  for (const ModelFamily& family : model_families()) usages.push_back(family.usage);
  return {
      {.name = "model", .help = fmt::format("{}", fmt::join(usages, "; or ")), .place = &run.model},
      {.name = "pretrained",
       .help = "weights to start from: safetensors or a .pth file; a head for other classes "
               "is replaced",
       .place = &run.pretrained},
      {.name = "allow-nonfinite",
       .help = "accept --pretrained weights that are NaN or infinite",
       .place = &run.allow_nonfinite,
       .scope = kRun},
      {.name = "freeze",
       .help = "what stays as it is: all (but the last layer), none, or the first N stages",
       .place = run.freeze.text()},
      {.name = "unfreeze-epoch",
       .help = "after so many epochs, what is frozen learns too; 0: never",
       .place = &run.train.unfreeze_epoch},
      {.name = "features",
       .help = "with --freeze all: cached makes --views versions of each picture and keeps what "
               "the last layer sees of them; fresh makes new ones in every epoch",
       .place = either_text(run.cached_features, "fresh", "cached"),
       .choices = {"fresh", "cached"}},
      {.name = "views",
       .help = "with --features cached: versions of each picture",
       .place = &run.views,
       .range = kCount}};
}

Settings training_settings(RunSettings& run) {
  MixOptions& mix = run.train.mix;
  return {
      {.name = "seed", .help = "all randomness follows from it", .place = &run.train.feed.seed},
      {.name = "epochs", .help = "how many", .place = &run.train.feed.epochs},
      {.name = "mixup", .help = "alpha of Mixup; 0: none", .place = &mix.mixup_alpha},
      {.name = "cutmix", .help = "alpha of CutMix; 0: none", .place = &mix.cutmix_alpha},
      {.name = "mixup-prob", .help = "share of batches that are mixed", .place = &mix.probability},
      {.name = "mixup-switch-prob",
       .help = "share of those that get CutMix where both are on",
       .place = &mix.switch_probability},
      {.name = "smoothing", .help = "label smoothing", .place = &run.train.smoothing},
      {.name = "class-weights",
       .help = "of the loss: balanced counts rarer classes more",
       .place = either_text(run.balanced_loss, "none", "balanced"),
       .choices = {"none", "balanced"}},
      {.name = "model-ema",
       .help = "validate and save a moving average of the weights",
       .place = &run.average},
      {.name = "model-ema-decay",
       .help = "what stays of the average in a step",
       .place = &run.average_options.decay},
      {.name = "model-ema-warmup",
       .help = "a lower decay in the first steps",
       .place = &run.average_options.warmup},
      {.name = "patience",
       .help = "end after so many epochs without a better top-1; 0: never",
       .place = &run.train.patience},
      {.name = "topk",
       .help = "k of the top-k accuracy",
       .place = &run.train.top_k,
       .range = kCount},
      {.name = "freeze-norms",
       .help = "batch norms of frozen stages use their running statistics (default); with "
               "--no-freeze-norms they normalise by the batch and update them",
       .place = &run.freeze_norms},
      {.name = "val-features",
       .help = "with --freeze all: cached computes what the last layer sees of the validation "
               "images once; fresh computes it in every epoch",
       .place = either_text(run.train.cached_validation, "fresh", "cached"),
       .scope = kRun,
       .choices = {"cached", "fresh"}},
      {.name = "loss",
       .help = "cross-entropy, or mse: half the squared error of the activated output against "
               "one-hot targets",
       .place = enum_text(run.train.loss, loss_names()),
       .choices = {loss_names().begin(), loss_names().end()}},
      {.name = "grad-reduction",
       .help = "gradient of a step: mean or sum over its samples",
       .place = enum_text(run.train.grad_reduction, kReductions),
       .choices = {kReductions.begin(), kReductions.end()}}};
}

SettingText optimiser_text(OptimiserKind& kind) {
  return {.read = [&kind] { return optimiser_names()[static_cast<std::size_t>(kind)]; },
          .write = [&kind](const std::string& text) { kind = parse_optimiser_kind(text); }};
}

SettingText schedule_text(ScheduleKind& kind) {
  return {.read = [&kind] { return std::string(to_string(kind)); },
          .write = [&kind](const std::string& text) { kind = parse_schedule_kind(text); }};
}

Settings optimiser_settings(RunSettings& run) {
  OptimiserOptions& optimiser = run.optimiser;
  return {
      {.name = "opt",
       .help = fmt::format("{}; sgd has Nesterov's momentum", fmt::join(optimiser_names(), ", ")),
       .place = optimiser_text(optimiser.kind)},
      {.name = "momentum", .help = "of sgd and momentum; 0: none", .place = &optimiser.momentum},
      {.name = "beta1", .help = "of adam and adamw", .place = &optimiser.beta1},
      {.name = "beta2", .help = "of adam and adamw", .place = &optimiser.beta2},
      {.name = "opt-eps", .help = "of adam and adamw", .place = &optimiser.epsilon},
      {.name = "weight-decay",
       .help = "of weights; biases and norms have none",
       .place = &optimiser.weight_decay},
      {.name = "layer-decay",
       .help = "each stage learns at this share of the next one's rate",
       .place = &optimiser.layer_decay},
      {.name = "clip-grad",
       .help = "largest norm of gradients; 0: any",
       .place = &run.train.clip_grad},
      {.name = "grad-accum-steps",
       .help = "batches whose gradients make one step",
       .place = &run.train.grad_accum_steps}};
}

Settings schedule_settings(RunSettings& run) {
  ScheduleOptions& schedule = run.train.schedule;
  return {{.name = "lr",
           .help = "learning rate, the largest of the schedule; auto: tries which suits",
           .place = auto_text(run.auto_lr, schedule.lr, {0, 1e6})},
          {.name = "sched",
           .help = fmt::format("{}", fmt::join(schedule_names(), ", ")),
           .place = schedule_text(schedule.sched)},
          {.name = "min-lr", .help = "no schedule goes below it", .place = &schedule.min_lr},
          {.name = "warmup-epochs",
           .help = "rising from --warmup-lr to --lr",
           .place = &schedule.warmup_epochs},
          {.name = "warmup-lr", .help = "where the warm-up starts", .place = &schedule.warmup_lr},
          {.name = "decay-epochs",
           .help = "step: how long each rate lasts",
           .place = &schedule.decay_epochs},
          {.name = "decay-first-epochs",
           .help = "step: how long the first rate lasts; 0: as long as the others",
           .place = &schedule.decay_first_epochs},
          {.name = "decay-rate",
           .help = "step and plateau: what it is multiplied by",
           .place = &schedule.decay_rate},
          {.name = "patience-epochs",
           .help = "plateau: epochs without progress that are forgiven",
           .place = &schedule.patience_epochs}};
}

Settings precision_settings(RunSettings& run) {
  return {{.name = "amp", .help = "convolutions and products in --amp-dtype", .place = &run.amp},
          {.name = "amp-dtype",
           .help = "bfloat16, or float16 with scaled gradients (CUDA)",
           .place = either_text(run.amp_float16, "bfloat16", "float16"),
           .choices = {"bfloat16", "float16"}}};
}

Settings fault_settings(RunSettings& run) {
  return {{.name = "on-error",
           .help = "unreadable sample: stop the run, or skip it: the next one takes its place, and "
                   "in validation none",
           .place = enum_text(run.train.feed.on_error, kOnError),
           .choices = {kOnError.begin(), kOnError.end()}},
          {.name = "on-divergence",
           .help = "loss not finite, or above 10 times that of the first 50 steps for 200 steps: "
                   "stop the run, or continue",
           .place = enum_text(run.train.on_divergence, kOnDivergence),
           .scope = kRun,
           .choices = {kOnDivergence.begin(), kOnDivergence.end()}},
          {.name = "isolate",
           .help = "decode in locked-down processes, for files that are not trusted",
           .place = &run.train.feed.isolate},
          {.name = "max-errors",
           .help = "with skip: more different samples end the run",
           .place = &run.train.feed.max_errors,
           .scope = kRun}};
}

Settings folder_settings(RunSettings& run) {
  return {{.name = "output",
           .help = "folder of the runs' folders",
           .place = &run.output,
           .scope = kRun},
          {.name = "experiment",
           .help = "name of the run; made up where not given",
           .place = &run.experiment,
           .scope = kRun},
          {.name = "checkpoint-every",
           .help = "how often to save all that is needed to go on: 50steps, 5min, 1epoch; auto: "
                   "after an epoch, as long as saving takes under 5 % of the time",
           .place = &run.checkpoint_every,
           .scope = kRun},
          {.name = "keep",
           .help = "how many checkpoints stay",
           .place = &run.keep,
           .scope = kRun,
           .range = kCount},
          {.name = "tensorboard",
           .help = "write event files for TensorBoard into the run's folder",
           .place = &run.record.tensorboard,
           .scope = kRun},
          {.name = "histograms",
           .help = "with --tensorboard: of the weights, after every epoch",
           .place = &run.record.histograms,
           .scope = kRun},
          {.name = "log-json",
           .help = "write log.jsonl, a JSON object a line",
           .place = &run.record.json_lines,
           .scope = kRun},
          {.name = "no-report",
           .help = "leave out report.html at the end",
           .place = &run.no_report,
           .scope = kRun}};
}

Settings source_settings(RunSettings& run) {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return {
      {.name = "recipe",
       .help =
           fmt::format("named settings for flags that are not given: {}", fmt::join(names, ", ")),
       .place = &run.recipe},
      {.name = "config",
       .help = "YAML file with any of these flags",
       .place = &run.config,
       .scope = kProcess},
      {.name = "resume",
       .help = "go on with the run in this folder; auto: with --experiment if it is there, else "
               "begin it",
       .place = &run.resume,
       .scope = kProcess},
      {.name = "accept-changed-data",
       .help = "with --resume: continue although the data has changed; the report says so",
       .place = &run.accept_changed_data,
       .scope = kProcess}};
}

}  // namespace

Settings settings_of(ComputeSettings& compute) {
  return {{.name = "workers",
           .help = "threads that feed; 0: what the job may use, at least 2",
           .place = &compute.workers,
           .scope = kRun,
           .range = kThreads,
           .letter = 'j'},
          {.name = "threads",
           .help = "threads of LibTorch; 0: what pays for the model",
           .place = &compute.threads,
           .range = kThreads},
          {.name = "device",
           .help = "auto, cpu, cuda or cuda:INDEX",
           .place = &compute.device,
           .scope = kRun}};
}

Settings settings_of(RankSettings& ranks) {
  return {{.name = "rank",
           .help = "of this process among --world-size; -1: as torchrun, mpirun or srun say",
           .place = &ranks.launch.rank,
           .scope = kProcess,
           .range = SettingRange{-1, 1 << 20}},
          {.name = "world-size",
           .help = "processes that train together; 0: likewise",
           .place = &ranks.launch.ranks,
           .scope = kProcess,
           .range = SettingRange{0, 1 << 20}},
          {.name = "master-addr",
           .help = "where rank 0 runs; not given: as the launcher says",
           .place = &ranks.launch.master_address,
           .scope = kProcess},
          {.name = "master-port",
           .help = "port there; 0: as the launcher says",
           .place = &ranks.launch.master_port,
           .scope = kProcess,
           .range = SettingRange{0, 65535}},
          {.name = "dist-backend",
           .help = "of c10d; auto: gloo where the device is a CPU, nccl where it is a GPU",
           .place = &ranks.backend,
           .scope = kProcess,
           .choices = {"auto", "gloo", "nccl"}},
          {.name = "dist-interface",
           .help = "network interface for all connections, e.g. eth0; not given: the one that "
                   "leads to --master-addr",
           .place = &ranks.interface,
           .scope = kProcess},
          {.name = "timeout",
           .help = "seconds after which a rank that died, hangs or is cut off ends the others",
           .place = &ranks.timeout,
           .scope = kProcess,
           .range = SettingRange{2, 1e6}},
          {.name = "reduce",
           .help = "overlap: gradients are summed over the ranks while the backward pass goes on; "
                   "after: when it is over, which also suits parameters without a gradient",
           .place = either_text(ranks.reduce_afterwards, "overlap", "after"),
           .scope = kRun,
           .choices = {"overlap", "after"}},
          {.name = "grad-compression",
           .help = "of gradients between ranks; bfloat16 halves the bytes",
           .place = either_text(ranks.compress, "none", "bfloat16"),
           .choices = {"none", "bfloat16"}},
          {.name = "sync-bn",
           .help = "batch norms take their statistics from the batch of all ranks together",
           .place = &ranks.sync_bn}};
}

Settings settings_of(RunSettings& run) {
  Settings all;
  append_settings(all, "Data", data_settings(run));
  append_settings(all, "Network", model_settings(run));
  append_settings(all, "Training", training_settings(run));
  append_settings(all, "Optimiser", optimiser_settings(run));
  append_settings(all, "Learning rate", schedule_settings(run));
  append_settings(all, "Machine", settings_of(run.compute));
  append_settings(all, "Several processes", settings_of(run.ranks));
  append_settings(all, "Machine", precision_settings(run));
  append_settings(all, "Faults", fault_settings(run));
  append_settings(all, "Run folder", folder_settings(run));
  append_settings(all, "Where settings come from", source_settings(run));
  return all;
}

}  // namespace stoker
