#include "stoker/run/train_setup.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/data/sources/balance.h"
#include "stoker/data/sources/source_range.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/nn/model_file.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/run/choose_precision.h"
#include "stoker/run/choose_settings.h"
#include "stoker/run/data_checks.h"
#include "stoker/run/find_weights.h"
#include "stoker/run/teacher_model.h"
#include "stoker/run/weights_path.h"
#include "stoker/train/batch_probe.h"
#include "stoker/train/single_samples.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

void refuse_balance(const RunSettings& settings, const Source& train) {
  if (!settings.balanced_loss && !settings.balanced_samples) return;
  if (task_of(train) == Task::kClassify) return;
  throw Error({.what = "classes can be balanced only where each image has one class",
               .expected = settings.balanced_loss ? "`class_weights` none" : "`sampler` shuffle",
               .found = fmt::format("`task` {}", settings.task)});
}

// Of shards the first samples say enough: reading all would take as long as an epoch.
TargetScale scale_of_targets(const Source& train) {
  if (task_of(train) != Task::kRegress) return {};
  constexpr std::uint64_t kMostOfShards = 10'000;
  const std::span<const FieldInfo> fields = train.fields();
  const std::size_t targets = find_field(fields, kTargetField)->values.size();
  std::vector<float> numbers(number_count(fields));
  const auto first = std::span<const float>(numbers).subspan(field_offset(fields, kTargetField));
  TargetStatistics statistics(targets);
  const std::uint64_t samples =
      train.layout() ? std::min(kMostOfShards, train.size()) : train.size();
  for (std::uint64_t i = 0; i < samples; ++i) {
    static_cast<void>(train.read_fields(i, numbers).value());
    statistics.add(first.first(targets));
  }
  return statistics.scale();
}

TrainData make_train_data(RunSettings& settings, const TrainingParts& parts) {
  std::shared_ptr<const Source> train = parts.train;
  settings.normalise.resolve(train->channels());
  refuse_balance(settings, *train);
  train = chosen_samples(train, settings.train_samples, settings.train.feed.seed);
  if (settings.balanced_loss) {
    settings.train.class_weights = balancing_weights(samples_by_class(*train));
  }
  if (settings.balanced_samples) {
    train = std::make_shared<Balanced>(train, settings.train.feed.seed);
  }
  return {.train = train,
          .validation = parts.validation,
          .policy = Policy::parse(settings.policy),
          .validation_policy = settings.resolved_validation_policy(),
          .normalisation = settings.preprocessing().normalisation(),
          .target_scale = scale_of_targets(*train)};
}

Precision parse_precision(const RunSettings& settings, const at::Device& device) {
  const std::string name = settings.precision();
  if (name == "float16" && device.is_cpu()) {
    throw Error({.what = "float16 is for accelerators",
                 .expected = "`amp_dtype` bfloat16 on a CPU",
                 .found = "float16"});
  }
  if (name == "float32") return Precision::kFloat32;
  return name == "bfloat16" ? Precision::kBfloat16 : Precision::kFloat16;
}

std::unique_ptr<Model> new_model(const RunSettings& settings, const TrainData& data,
                                 std::string& pretrained) {
  const ModelInput input{.image = sample_shape(*data.train, data.policy),
                         .classes = static_cast<std::int64_t>(output_names(*data.train).size())};
  auto model = make_model(settings.model, input, settings.train.feed.seed,
                          {.head = settings.head, .drop_path = settings.drop_path});
  if (!settings.pretrained.empty()) {
    pretrained = load_pretrained(*model, settings.pretrained, settings.allow_nonfinite);
  }
  return model;
}

// In place of --batch-size auto.
std::string choose_batch_size(RunSettings& settings, Model& model, const TrainData& data,
                              const RunEvents& events) {
  const std::uint64_t most =
      std::min<std::uint64_t>(1024, std::max<std::uint64_t>(1, data.train->size() / 4));
  const BatchChoice choice =
      choose_batch_size(model, static_cast<std::uint32_t>(most), [&](const BatchProbe& probe) {
        events.tell(
            fmt::format("batch size {:4}: {:.1f} samples/s", probe.size, probe.samples_per_second));
      });
  settings.train.feed.batch_size = choice.size;
  settings.auto_batch_size = false;
  return fmt::format("batch size {}, chosen among {}{}", choice.size, choice.tried.size(),
                     choice.out_of_memory ? "; a larger one does not fit into memory" : "");
}

// In place of --lr auto.
RateRange choose_rate(RunSettings& settings, Model& model, const TrainData& data,
                      const RunEvents& events) {
  const RateRangeOptions options;
  RateRange range =
      try_rates(model, settings.optimiser, data, settings.train, options,
                [&](std::uint32_t done) { events.tell("learning rates", done, options.steps); });
  // Two digits: more would claim what the test cannot know.
  settings.train.schedule.lr = std::strtod(fmt::format("{:.2g}", range.suggested).c_str(), nullptr);
  settings.auto_lr = false;
  return range;
}

// What is tried out differs from machine to machine.
void refuse_tries_on_ranks(const RunSettings& settings, const Launch& launch) {
  if (launch.ranks == 1 || (!settings.auto_batch_size && !settings.auto_lr)) return;
  throw Error({.what = "only a single process can choose batch size or learning rate",
               .expected = "`batch_size` and `lr` as numbers",
               .found = fmt::format("auto, with {} ranks", launch.ranks),
               .hint = "Let one process try first: its run's log names what it chose"});
}

// A path, or the file of published weights that a name means.
std::string find_pretrained(const RunSettings& settings, const RunEvents& events) {
  const auto published = find_published(
      settings.pretrained,
      {.folder = settings.weights_folder,
       .download = settings.download_weights,
       .retry = settings.shards.store.retry,
       .progress = [&](const std::string& file, std::uint64_t done, std::uint64_t total) {
         events.tell("downloading " + file, done, total);
       }});
  return published ? published->string() : weights_path(settings.pretrained).string();
}

void report_stalls(TrainOptions& options, const RunEvents& events) {
  if (!events.stalled) return;
  options.feed.stall_limit = std::chrono::seconds(30);
  options.feed.on_stall = events.stalled;
}

}  // namespace

TrainingParts open_parts(const RunSettings& settings) {
  const DataOptions options{
      .images = settings.images, .shards = settings.shards, .table = settings.table};
  TrainingParts parts =
      open_training_parts(settings.validation.request(settings.data, options), options);
  check_class_names(*parts.train, settings.data);
  return parts;
}

TrainSetup set_up(RunSettings& settings, GivenSettings& given, const Launch& launch,
                  const RunEvents& events, const ShareText& rank_0s) {
  settings.resolve();
  report_stalls(settings.train, events);
  refuse_tries_on_ranks(settings, launch);
  if (!settings.pretrained.empty()) settings.pretrained = find_pretrained(settings, events);
  if (!settings.teacher.empty()) settings.teacher = weights_path(settings.teacher);
  for (std::string* data :
       {&settings.data, &settings.validation.data, &settings.validation.test_data,
        &settings.pretrained, &settings.teacher, &settings.model}) {
    if (fs::exists(*data)) *data = fs::absolute(*data).string();
  }
  TrainingParts parts = open_parts(settings);
  std::vector<std::string> choices = choose_settings(settings, given, parts);
  TrainData data = make_train_data(settings, parts);
  std::vector<std::string> data_notes = check_data(
      std::vector<DataPart>{
          {"training", parts.train}, {"validation", parts.validation}, {"test", parts.test}},
      {.skip_unknown = settings.skip_unknown,
       .decode_images = !settings.train.feed.isolate,
       .limits = settings.images.limits});
  std::string pretrained;
  auto model = new_model(settings, data, pretrained);
  const std::size_t frozen = settings.freeze.count(model->stages().size());
  const std::size_t fixed = settings.train.unfreeze_epoch > 0 ? 0 : frozen;
  model->freeze(fixed);
  model->train_frozen_norms(!settings.freeze_norms);
  Placement placement =
      place_model(*model, settings.compute, settings.train.feed.batch_size, launch);
  if (std::string note = resolve_amp(settings, *model, rank_0s); !note.empty()) {
    choices.push_back(std::move(note));
  }
  model->compute_in(parse_precision(settings, model->device()));
  if (!settings.teacher.empty()) data.teacher = load_teacher(settings, data, *model);
  settings.train.feed.workers = placement.threads.workers;
  settings.train.validation_batch_size = default_evaluation_batch(model->input().image);
  TrainSetup setup{.data = std::move(data),
                   .parts = std::move(parts),
                   .pretrained = std::move(pretrained),
                   .placement = std::move(placement),
                   .state = State(std::move(model), settings.optimiser, settings.averaging()),
                   .interval = parse_checkpoint_interval(settings.checkpoint_every),
                   .fixed_stages = fixed,
                   .fixed_norms = settings.freeze_norms,
                   .notes = std::move(choices),
                   .data_notes = std::move(data_notes)};
  Model& placed = *setup.state.model;
  placed.freeze(frozen);
  if (settings.auto_batch_size) {
    setup.notes.push_back(choose_batch_size(settings, placed, setup.data, events));
  }
  Observer nobody;
  if (launch.ranks > 1) {
    refuse_single_samples(placed, setup.data, settings.train,
                          static_cast<std::uint32_t>(launch.ranks));
  }
  static_cast<void>(
      Trainer(setup.state, setup.data, settings.train, nobody));  // checks its options
  if (settings.auto_lr) {
    setup.rate_range = choose_rate(settings, placed, setup.data, events);
    setup.notes.push_back(fmt::format("learning rate {}, by a range test", settings.lr_text()));
  }
  return setup;
}

RunSettings resolved(const RunSettings& settings, const TrainSetup& setup) {
  RunSettings chosen = settings;
  chosen.validation = settings.validation.resolved(setup.parts);
  chosen.model = setup.state.model->architecture();
  chosen.compute.threads = setup.placement.threads.compute;
  chosen.compute.workers = setup.placement.threads.workers;
  chosen.compute.device = setup.placement.device.device.str();
  return chosen;
}

}  // namespace stoker
