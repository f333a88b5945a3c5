#include "stoker/cli/train_setup.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "stoker/cli/data_checks.h"
#include "stoker/cli/progress.h"
#include "stoker/core/error.h"
#include "stoker/data/sources/balance.h"
#include "stoker/data/sources/source_range.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/train/batch_probe.h"
#include "stoker/train/single_samples.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

TrainData make_train_data(TrainFlags& flags, const TrainingParts& parts) {
  std::shared_ptr<const Source> train = parts.train;
  flags.normalise.resolve(train->channels());
  train = chosen_samples(train, flags.train_samples, flags.train.seed);
  if (flags.class_weights == "balanced") {
    flags.train.class_weights = balancing_weights(samples_by_class(*train));
  }
  if (flags.sampler == "balanced") train = std::make_shared<Balanced>(train, flags.train.seed);
  return {.train = train,
          .validation = parts.validation,
          .policy = Policy::parse(flags.policy),
          .validation_policy = flags.resolved_validation_policy(),
          .normalisation = flags.preprocessing().normalisation()};
}

Precision parse_precision(const TrainFlags& flags, const at::Device& device) {
  const std::string name = flags.precision();
  if (name == "float16" && device.is_cpu()) {
    throw Error({.what = "float16 is for accelerators",
                 .expected = "--amp-dtype bfloat16 on a CPU",
                 .found = "float16"});
  }
  if (name == "float32") return Precision::kFloat32;
  return name == "bfloat16" ? Precision::kBfloat16 : Precision::kFloat16;
}

std::unique_ptr<Model> new_model(const TrainFlags& flags, const TrainData& data,
                                 std::string& pretrained) {
  const ModelInput input{.image = sample_shape(*data.train, data.policy),
                         .classes = static_cast<std::int64_t>(data.train->class_names().size())};
  auto model = make_model(flags.model, input, flags.train.seed);
  if (!flags.pretrained.empty()) {
    pretrained = load_pretrained(*model, flags.pretrained, flags.allow_nonfinite);
  }
  return model;
}

// In place of --batch-size auto.
std::string choose_batch_size(TrainFlags& flags, Model& model, const TrainData& data) {
  const std::uint64_t most =
      std::min<std::uint64_t>(1024, std::max<std::uint64_t>(1, data.train->size() / 4));
  const BatchChoice choice =
      choose_batch_size(model, static_cast<std::uint32_t>(most), [](const BatchProbe& probe) {
        fmt::print(stderr, "batch size {:4}: {:.1f} samples/s\n", probe.size,
                   probe.samples_per_second);
      });
  flags.train.batch_size = choice.size;
  flags.batch_size = std::to_string(choice.size);
  return fmt::format("batch size {}, chosen among {}{}", choice.size, choice.tried.size(),
                     choice.out_of_memory ? "; a larger one does not fit into memory" : "");
}

// In place of --lr auto.
RateRange choose_rate(TrainFlags& flags, Model& model, const TrainData& data) {
  const RateRangeOptions options;
  Progress progress("learning rates", options.steps);
  const RateRange range = try_rates(model, flags.optimiser, data, flags.train, options,
                                    [&](std::uint32_t done) { progress.update(done); });
  progress.clear();
  // Two digits: more would claim what the test cannot know.
  flags.lr = fmt::format("{:.2g}", range.suggested);
  flags.train.schedule.lr = std::strtod(flags.lr.c_str(), nullptr);
  return range;
}

// What is tried out differs from machine to machine.
void refuse_tries_on_ranks(const TrainFlags& flags) {
  if (flags.launch.ranks == 1 || (flags.batch_size != "auto" && flags.lr != "auto")) return;
  throw Error({.what = "only a single process can choose batch size or learning rate",
               .expected = "--batch-size and --lr as numbers",
               .found = fmt::format("auto, with {} ranks", flags.launch.ranks),
               .hint = "Let one process try first: its run's log names what it chose"});
}

}  // namespace

TrainingParts open_parts(const TrainFlags& flags) {
  const DataOptions options{.pictures = {.limits = flags.limits}, .shards = flags.shards.options()};
  return open_training_parts(flags.validation.request(flags.data, options), options);
}

TrainSetup set_up(TrainFlags& flags) {
  flags.resolve();
  refuse_tries_on_ranks(flags);
  for (std::string* data :
       {&flags.data, &flags.validation.data, &flags.validation.test_data, &flags.pretrained}) {
    if (fs::exists(*data)) *data = fs::absolute(*data).string();
  }
  TrainingParts parts = open_parts(flags);
  TrainData data = make_train_data(flags, parts);
  std::vector<std::string> data_notes = check_data(
      std::vector<DataPart>{
          {"training", parts.train}, {"validation", parts.validation}, {"test", parts.test}},
      {.skip_unknown = flags.skip_unknown,
       .decode_images = !flags.train.isolate,
       .limits = flags.limits});
  std::string pretrained;
  auto model = new_model(flags, data, pretrained);
  const std::size_t frozen = flags.frozen_stages(model->stages().size());
  const std::size_t fixed = flags.train.unfreeze_epoch > 0 ? 0 : frozen;
  model->freeze(fixed);
  model->train_frozen_norms(!flags.freeze_norms);
  Placement placement = place_model(*model, flags.compute, flags.train.batch_size, flags.launch);
  model->compute_in(parse_precision(flags, model->device()));
  flags.train.workers = placement.threads.workers;
  flags.train.validation_batch_size = default_evaluation_batch(model->input().image);
  TrainSetup setup{.data = std::move(data),
                   .parts = std::move(parts),
                   .pretrained = std::move(pretrained),
                   .placement = std::move(placement),
                   .state = State(std::move(model), flags.optimiser, flags.averaging()),
                   .interval = parse_checkpoint_interval(flags.checkpoint_every),
                   .fixed_stages = fixed,
                   .fixed_norms = flags.freeze_norms,
                   .notes = {},
                   .data_notes = std::move(data_notes)};
  Model& placed = *setup.state.model;
  placed.freeze(frozen);
  if (flags.batch_size == "auto") {
    setup.notes.push_back(choose_batch_size(flags, placed, setup.data));
  }
  Observer nobody;
  if (flags.launch.ranks > 1) {
    refuse_single_samples(placed, setup.data, flags.train,
                          static_cast<std::uint32_t>(flags.launch.ranks));
  }
  static_cast<void>(Trainer(setup.state, setup.data, flags.train, nobody));  // checks its options
  if (flags.lr == "auto") {
    setup.rate_range = choose_rate(flags, placed, setup.data);
    setup.notes.push_back(fmt::format("learning rate {}, by a range test", flags.lr));
  }
  return setup;
}

FlagValues resolved_values(const Command& command, const TrainFlags& flags, const TrainSetup& setup,
                           const std::set<std::string>& left_out) {
  std::set<std::string> without = left_out;
  // Of this process, not of the run.
  without.insert({"config", "resume", "rank", "world-size", "master-addr", "master-port",
                  "dist-backend", "dist-interface", "timeout", "accept-changed-data"});
  FlagValues values = flag_values(command, without);
  set_flag_value(values, "data", flags.data);
  flags.validation.resolve(values, setup.parts);
  set_flag_value(values, "pretrained", flags.pretrained);
  set_flag_value(values, "batch-size", flags.batch_size);
  set_flag_value(values, "lr", flags.lr);
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

}  // namespace stoker
