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
constexpr SettingRange kViews{1, 64};
constexpr SettingRange kDropPath{0, 0.9};
constexpr SettingRange kBatchSizes{1, 1 << 24};
constexpr SettingRange kThreads{0, 4096};

const std::array<std::string, 2> kReductions = {"mean", "sum"};
const std::array<std::string, 2> kDistill = {"soft", "hard"};
const std::array<std::string, 2> kOnError = {"stop", "skip"};
const std::array<std::string, 2> kOnDivergence = {"continue", "stop"};

Settings data_settings(RunSettings& run) {
  Settings all = {{.name = "data",
                   .help = data_help() + "; its test part is evaluated once, after training",
                   .place = &run.data,
                   .positional = true}};
  append_settings(all, "", settings_of(run.validation));
  append_settings(
      all, "",
      {{.name = "aa",
        .help = "augmentation: a preset (mnist, imagenet-train, …) or a list such as "
                "\"rotate(-15,15),noise(0.1)\"; see `stoker ops`",
        .place = &run.policy},
       {.name = "val-aa",
        .help =
            "validation preprocessing, e.g. \"resize(224,224)\" (auto: the resize of --aa, or a "
            "center crop of its size where it takes random parts)",
        .place = &run.validation_policy},
       {.name = "img-size",
        .help = "size of training and validation images (0: that of --aa or of the data)",
        .place = &run.image_size,
        .range = SettingRange{0, 1 << 14}},
       {.name = "skip-unknown",
        .help = "skip images in unsupported formats (GIF, HEIC, AVIF, …)",
        .place = &run.skip_unknown,
        .scope = kRun},
       {.name = "exact-decode",
        .help = "decode JPEGs at full size before resizing",
        .place = &run.train.feed.framing.exact_decode},
       {.name = "train-samples",
        .help = "train on a random subset of N samples, or on the first N with first:N (0: all)",
        .place = &run.train_samples}});
  append_settings(all, "", settings_of(run.normalise));
  append_settings(all, "", settings_of(run.images));
  append_settings(all, "", settings_of(run.shards));
  append_settings(all, "", settings_of(run.table));
  append_settings(
      all, "",
      {{.name = "batch-size",
        .help = "batch size, over all ranks (auto: measured on this machine)",
        .place = auto_text(run.auto_batch_size, run.train.feed.batch_size, kBatchSizes),
        .letter = 'b'},
       {.name = "sampler",
        .help = "balanced: repeat images of rare classes until all classes are equally frequent",
        .place = either_text(run.balanced_samples, "shuffle", "balanced"),
        .choices = {"shuffle", "balanced"}},
       {.name = "views",
        .help = "augmented versions of each image in a batch; a step is their mean",
        .place = &run.train.feed.views,
        .range = kViews},
       {.name = "batches-per-epoch",
        .help = "batches per epoch (0: one pass over the data)",
        .place = &run.train.feed.batches_per_epoch}});
  return all;
}

std::vector<std::string> task_choices() {
  std::vector<std::string> names = {"auto"};
  names.insert(names.end(), task_names().begin(), task_names().end());
  return names;
}

Settings model_settings(RunSettings& run) {
  std::vector<std::string> usages;
  for (const ModelFamily& family : model_families()) usages.push_back(family.usage);
  return {
      {.name = "task",
       .help = "one class per image (classify), several (multilabel), or numbers (regress); "
               "auto: what the data has",
       .place = &run.task,
       .choices = task_choices()},
      {.name = "model",
       .help = fmt::format("{}; or FILE.pt2, a network exported from Python (not given: chosen "
                           "from the data or --pretrained)",
                           fmt::join(usages, "; or ")),
       .place = &run.model},
      {.name = "head",
       .help = "with --model FILE.pt2: the linear layer that gives the classes, where it is not "
               "the last one",
       .place = &run.head},
      {.name = "drop-path",
       .help = "stochastic depth: probability that a sample skips the last block in training; "
               "less for blocks before it (convnext, vit, efficientnet, regnet_y)",
       .place = &run.drop_path,
       .range = kDropPath},
      {.name = "pretrained",
       .help = "weights to start from: .safetensors, .pth, a run folder, one with timm's "
               "config.json, or the name of published weights, e.g. resnet50; a head for other "
               "classes is replaced",
       .place = &run.pretrained},
      {.name = "weights-dir",
       .help = "folder of published weights (not given: $STOKER_WEIGHTS; then PyTorch's cache)",
       .place = &run.weights_folder,
       .scope = kRun},
      {.name = "download",
       .help = "download published weights that are not on this machine, and check their SHA-256",
       .place = &run.download_weights,
       .scope = kRun},
      {.name = "allow-nonfinite",
       .help = "accept --pretrained weights that contain NaN or infinity",
       .place = &run.allow_nonfinite,
       .scope = kRun},
      {.name = "freeze",
       .help = "layers to freeze: none, all but the head, or the first N stages",
       .place = run.freeze.text()},
      {.name = "unfreeze-epoch",
       .help = "unfreeze all layers after N epochs (0: never)",
       .place = &run.train.unfreeze_epoch},
      {.name = "features",
       .help = "with --freeze all: compute the input of the head once for --cached-views "
               "versions of each image (cached), or in every epoch (fresh)",
       .place = either_text(run.cached_features, "fresh", "cached"),
       .choices = {"fresh", "cached"}},
      {.name = "cached-views",
       .help = "with --features cached: augmented versions of each image",
       .place = &run.cached_views,
       .range = kCount}};
}

std::vector<std::string> loss_choices() {
  std::vector<std::string> names = {"auto"};
  names.insert(names.end(), loss_names().begin(), loss_names().end());
  return names;
}

SettingText loss_text(RunSettings& run) {
  SettingText text = enum_text(run.train.loss, loss_names());
  return {.read = [&run, read = text.read] { return run.auto_loss ? "auto" : read(); },
          .write =
              [&run, write = text.write](const std::string& value) {
                run.auto_loss = value == "auto";
                if (!run.auto_loss) write(value);
              },
          .type = text.type};
}

Settings teacher_settings(RunSettings& run) {
  DistillOptions& distill = run.train.distill;
  return {{.name = "teacher",
           .help = "model file or run folder of the same classes and image size whose "
                   "probabilities take part in the loss (distillation)",
           .place = &run.teacher},
          {.name = "distill",
           .help = "with --teacher: compare with its probabilities (soft), or with its most "
                   "probable class (hard)",
           .place = enum_text(distill.kind, kDistill),
           .choices = {kDistill.begin(), kDistill.end()}},
          {.name = "distill-alpha",
           .help = "with --teacher: weight of its part of the loss; 1 - N for the labels",
           .place = &distill.alpha},
          {.name = "distill-temperature",
           .help = "with --distill soft: temperature of both softmaxes",
           .place = &distill.temperature}};
}

Settings training_settings(RunSettings& run) {
  MixOptions& mix = run.train.mix;
  return {{.name = "seed", .help = "random seed", .place = &run.train.feed.seed},
          {.name = "epochs", .help = "number of training epochs", .place = &run.train.feed.epochs},
          {.name = "mixup", .help = "Mixup alpha (0: off)", .place = &mix.mixup_alpha},
          {.name = "cutmix", .help = "CutMix alpha (0: off)", .place = &mix.cutmix_alpha},
          {.name = "mixup-prob",
           .help = "probability that a batch is mixed",
           .place = &mix.probability},
          {.name = "mixup-switch-prob",
           .help = "probability of CutMix where Mixup is on too",
           .place = &mix.switch_probability},
          {.name = "smoothing", .help = "label smoothing", .place = &run.train.smoothing},
          {.name = "class-weights",
           .help = "balanced: weight the loss by inverse class frequency",
           .place = either_text(run.balanced_loss, "none", "balanced"),
           .choices = {"none", "balanced"}},
          {.name = "model-ema",
           .help = "validate and save an exponential moving average of the weights",
           .place = &run.average},
          {.name = "model-ema-decay",
           .help = "EMA decay per step",
           .place = &run.average_options.decay},
          {.name = "model-ema-warmup",
           .help = "lower EMA decay in the first steps",
           .place = &run.average_options.warmup},
          {.name = "swa-start",
           .help = "average the weights after each epoch beyond the first N, equally; validate and "
                   "save the average (0: off)",
           .place = &run.average_options.equal_from},
          {.name = "patience",
           .help = "stop after N epochs without improvement (0: never)",
           .place = &run.train.patience},
          {.name = "topk",
           .help = "k of the top-k accuracy",
           .place = &run.train.top_k,
           .range = kCount},
          {.name = "freeze-norms",
           .help = "batch norms of frozen stages use their running statistics; --no-freeze-norms: "
                   "batch statistics, which also update the running ones",
           .place = &run.freeze_norms},
          {.name = "val-features",
           .help = "with --freeze all: compute the head's input for validation images once "
                   "(cached), or in every epoch (fresh)",
           .place = either_text(run.train.cached_validation, "fresh", "cached"),
           .scope = kRun,
           .choices = {"cached", "fresh"}},
          {.name = "loss",
           .help = "loss (auto: cross-entropy; multilabel: bce; regress: mse); classify also takes "
                   "mse and bce, multilabel focal and asymmetric, regress huber",
           .place = loss_text(run),
           .choices = loss_choices()},
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
       .help = fmt::format("{} (sgd: with Nesterov momentum)", fmt::join(optimiser_names(), ", ")),
       .place = optimiser_text(optimiser.kind)},
      {.name = "momentum",
       .help = "momentum of sgd and momentum (0: none)",
       .place = &optimiser.momentum},
      {.name = "beta1", .help = "beta1 of adam, adamw and lion", .place = &optimiser.beta1},
      {.name = "beta2",
       .help = "beta2 of adam, adamw and lion (not given: 0.999, for lion 0.99)",
       .place = &optimiser.beta2},
      {.name = "opt-eps", .help = "epsilon of adam and adamw", .place = &optimiser.epsilon},
      {.name = "weight-decay",
       .help = "weight decay; biases and norms have none",
       .place = &optimiser.weight_decay},
      {.name = "layer-decay",
       .help = "learning-rate factor from each stage to the one before it (1: off)",
       .place = &optimiser.layer_decay},
      {.name = "clip-grad",
       .help = "clip gradients to this norm (0: off)",
       .place = &run.train.clip_grad},
      {.name = "grad-accum-steps",
       .help = "accumulate gradients over N batches",
       .place = &run.train.grad_accum_steps}};
}

Settings schedule_settings(RunSettings& run) {
  ScheduleOptions& schedule = run.train.schedule;
  return {{.name = "lr",
           .help = "peak learning rate (auto: range test; not given: 0.1, for adam and adamw "
                   "0.001, for lion 0.0001, lower with --pretrained)",
           .place = auto_text(run.auto_lr, schedule.lr, {0, 1e6})},
          {.name = "sched",
           .help = fmt::format("{}", fmt::join(schedule_names(), ", ")),
           .place = schedule_text(schedule.sched)},
          {.name = "min-lr", .help = "minimum learning rate", .place = &schedule.min_lr},
          {.name = "warmup-epochs",
           .help = "epochs of linear warm-up from --warmup-lr to --lr",
           .place = &schedule.warmup_epochs},
          {.name = "warmup-lr",
           .help = "learning rate at the start of the warm-up",
           .place = &schedule.warmup_lr},
          {.name = "decay-epochs",
           .help = "step: epochs between reductions of the rate",
           .place = &schedule.decay_epochs},
          {.name = "decay-first-epochs",
           .help = "step: epochs before the first reduction (0: as --decay-epochs)",
           .place = &schedule.decay_first_epochs},
          {.name = "decay-rate",
           .help = "step and plateau: factor of each reduction",
           .place = &schedule.decay_rate},
          {.name = "patience-epochs",
           .help = "plateau: epochs without improvement before reducing the rate",
           .place = &schedule.patience_epochs}};
}

// "true" and "false" are how earlier versions wrote it.
SettingText amp_text(MixedPrecision& amp) {
  static const std::array<std::string, 3> kNames = {"off", "on", "auto"};
  SettingText text = enum_text(amp, kNames);
  text.write = [write = text.write](const std::string& value) {
    write(value == "true" ? "on" : value == "false" ? "off" : value);
  };
  text.type = "on, off or auto";
  return text;
}

Settings precision_settings(RunSettings& run) {
  return {{.name = "amp",
           .help = "mixed precision: on (or no value), off, auto (on with AMX, or a GPU with "
                   "bfloat16)",
           .place = amp_text(run.amp)},
          {.name = "amp-dtype",
           .help = "bfloat16, or float16 with gradient scaling (CUDA)",
           .place = either_text(run.amp_float16, "bfloat16", "float16"),
           .choices = {"bfloat16", "float16"}}};
}

Settings fault_settings(RunSettings& run) {
  return {{.name = "on-error",
           .help = "unreadable sample: stop the run, or skip it; the next sample takes its place",
           .place = enum_text(run.train.feed.on_error, kOnError),
           .choices = {kOnError.begin(), kOnError.end()}},
          {.name = "on-divergence",
           .help = "loss not finite, or above 10 times that of the first 50 steps for 200 steps: "
                   "stop the run, or continue",
           .place = enum_text(run.train.on_divergence, kOnDivergence),
           .scope = kRun,
           .choices = {kOnDivergence.begin(), kOnDivergence.end()}},
          {.name = "isolate",
           .help = "decode untrusted files in sandboxed processes",
           .place = &run.train.feed.isolate,
           .scope = kRun},
          {.name = "max-errors",
           .help = "with --on-error skip: stop after more than N unreadable samples",
           .place = &run.train.feed.max_errors,
           .scope = kRun}};
}

Settings folder_settings(RunSettings& run) {
  return {{.name = "output", .help = "folder for run folders", .place = &run.output, .scope = kRun},
          {.name = "experiment",
           .help = "name of the run (not given: made of data and network)",
           .place = &run.experiment,
           .scope = kRun},
          {.name = "checkpoint-every",
           .help = "interval between checkpoints: 50steps, 5min, 1epoch (auto: each epoch, while "
                   "that takes under 5 % of the time)",
           .place = &run.checkpoint_every,
           .scope = kRun},
          {.name = "keep",
           .help = "checkpoints to keep",
           .place = &run.keep,
           .scope = kRun,
           .range = kCount},
          {.name = "tensorboard",
           .help = "write TensorBoard event files",
           .place = &run.record.tensorboard,
           .scope = kRun},
          {.name = "histograms",
           .help = "with --tensorboard: histograms of the weights after each epoch",
           .place = &run.record.histograms,
           .scope = kRun},
          {.name = "log-json",
           .help = "write log.jsonl, one JSON object per line",
           .place = &run.record.json_lines,
           .scope = kRun},
          {.name = "metrics-file",
           .help = "write figures in Prometheus text format to this file, every 5 s",
           .place = &run.record.metrics_file,
           .scope = kRun},
          {.name = "no-report",
           .help = "do not write report.html",
           .place = &run.no_report,
           .scope = kRun}};
}

Settings source_settings(RunSettings& run) {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return {
      {.name = "recipe",
       .help = fmt::format("named set of defaults: {}", fmt::join(names, ", ")),
       .place = &run.recipe},
      {.name = "config",
       .help = "YAML file with any of these settings",
       .place = &run.config,
       .scope = kProcess},
      {.name = "resume",
       .help =
           "resume the run in this folder (auto: resume --experiment if it exists, else start it)",
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
           .help = "data-loading threads (0: one per available CPU, at least 2)",
           .place = &compute.workers,
           .scope = kRun,
           .range = kThreads,
           .letter = 'j'},
          {.name = "threads",
           .help = "compute threads (0: chosen from the model)",
           .place = &compute.threads,
           .range = kThreads},
          {.name = "device",
           .help = "auto, cpu, cuda or cuda:INDEX",
           .place = &compute.device,
           .scope = kRun}};
}

Settings settings_of(RankSettings& ranks) {
  return {{.name = "rank",
           .help = "rank of this process (-1: from torchrun, mpirun or srun)",
           .place = &ranks.launch.rank,
           .scope = kProcess,
           .range = SettingRange{-1, 1 << 20}},
          {.name = "world-size",
           .help = "number of processes (0: from the launcher)",
           .place = &ranks.launch.ranks,
           .scope = kProcess,
           .range = SettingRange{0, 1 << 20}},
          {.name = "master-addr",
           .help = "host of rank 0 (not given: from the launcher)",
           .place = &ranks.launch.master_address,
           .scope = kProcess},
          {.name = "master-port",
           .help = "port on that host (0: from the launcher)",
           .place = &ranks.launch.master_port,
           .scope = kProcess,
           .range = SettingRange{0, 65535}},
          {.name = "dist-backend",
           .help = "c10d backend (auto: gloo on CPUs, nccl on GPUs)",
           .place = &ranks.backend,
           .scope = kProcess,
           .choices = {"auto", "gloo", "nccl"}},
          {.name = "dist-interface",
           .help = "network interface, e.g. eth0 (not given: the one that leads to --master-addr)",
           .place = &ranks.interface,
           .scope = kProcess},
          {.name = "dist-secret-file",
           .help = "file with the secret that all ranks share, for its owner alone (not given: "
                   "STOKER_DIST_SECRET_FILE or STOKER_DIST_SECRET, if set)",
           .place = &ranks.secret_file,
           .scope = kProcess},
          {.name = "timeout",
           .help = "seconds after which a dead, hanging or unreachable rank ends the others",
           .place = &ranks.timeout,
           .scope = kProcess,
           .range = SettingRange{2, 1e6}},
          {.name = "reduce",
           .help = "sum gradients over ranks during the backward pass (overlap) or after it",
           .place = either_text(ranks.reduce_afterwards, "overlap", "after"),
           .scope = kRun,
           .choices = {"overlap", "after"}},
          {.name = "grad-compression",
           .help = "precision of gradients between ranks; bfloat16 halves the traffic",
           .place = either_text(ranks.compress, "none", "bfloat16"),
           .choices = {"none", "bfloat16"}},
          {.name = "sync-bn",
           .help = "compute batch-norm statistics over all ranks",
           .place = &ranks.sync_bn}};
}

Settings settings_of(RunSettings& run) {
  Settings all;
  append_settings(all, "Data", data_settings(run));
  append_settings(all, "Network", model_settings(run));
  append_settings(all, "Training", training_settings(run));
  append_settings(all, "Training", teacher_settings(run));
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
