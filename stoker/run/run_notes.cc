#include "stoker/run/run_notes.h"

#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include "stoker/core/data_order.h"
#include "stoker/core/digest.h"
#include "stoker/core/metric_list.h"
#include "stoker/data/sources/source_task.h"
#include "stoker/pipeline/feed.h"
#include "stoker/run/run_facts.h"
#include "stoker/train/training_feed.h"

namespace stoker {
namespace {

std::int64_t count_of(const std::vector<NamedTensor>& tensors) {
  std::int64_t count = 0;
  for (const NamedTensor& named : tensors) count += named.tensor.numel();
  return count;
}

std::uint64_t epoch_samples(const RunSettings& run, const TrainData& data) {
  return plan_of(training_feed_options(data, run.train), data.train->size()).samples_per_epoch();
}

}  // namespace

void introduce(RunFolder& folder, const RunSettings& run, const TrainSetup& setup) {
  const Source& train = *setup.data.train;
  folder.say(fmt::format("run        {}", folder.path().string()));
  const TrainingParts& parts = setup.parts;
  folder.say(
      fmt::format("data       {}: {} samples to train, {} to validate, {}, {} {}, "
                  "augmentation {}",
                  run.data, train.size(), setup.data.validation->size(),
                  shape_text(setup.state.model->input().image), output_names(train).size(),
                  task_of(train) == Task::kRegress ? "targets" : "classes",
                  setup.data.policy.text().empty() ? "none" : setup.data.policy.text()));
  folder.say(fmt::format("validation {}", parts.validation_origin));
  if (parts.test) {
    folder.say(fmt::format("test       {}: {} samples, evaluated at the end", parts.test_origin,
                           parts.test->size()));
  }
  for (const std::string& note : parts.notes) folder.say(fmt::format("note       {}", note));
  folder.say(fmt::format("model      {}, {} parameters", setup.state.model->architecture(),
                         parameter_count(*setup.state.model)));
  if (!setup.pretrained.empty()) {
    folder.say(fmt::format("weights    {}\n{}", run.pretrained, setup.pretrained));
  }
  if (setup.data.teacher) {
    folder.say(fmt::format("teacher    {}: {}", run.teacher, setup.data.teacher->architecture()));
  }
  const Model& model = *setup.state.model;
  if (model.frozen() > 0) {
    folder.say(fmt::format("frozen     {} of {} stages; {} parameters are trained", model.frozen(),
                           model.stages().size(), count_of(model.trainable_parameters())));
  }
  for (const std::string& note : setup.notes) folder.say(fmt::format("chosen     {}", note));
  const ChosenDevice& device = setup.placement.device;
  folder.say(
      fmt::format("device     {} ({}), {}", device.device.str(), device.reason, run.precision()));
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

void say_resume_point(RunFolder& folder, const Checkpointing::Restored& restored,
                      const State& state, const TrainOptions& options) {
  for (const ErrorDetails& reason : restored.damaged) {
    folder.say(fmt::format("passed over a checkpoint: {}", to_string(reason)));
  }
  if (restored.path.empty()) {
    folder.say("resume     no checkpoint yet: from the start");
  } else if (state.epochs_done() >= options.feed.epochs && !state.awaits_validation()) {
    folder.say(fmt::format(
        "resume     the run is finished: {} of {} epochs{}", state.epochs_done(),
        options.feed.epochs,
        depends_on_length(options.schedule.sched) ? "" : "; a larger `epochs` trains on"));
  } else {
    folder.say(fmt::format("resume     {}: {}epoch {}, step {}", restored.path.filename().string(),
                           state.awaits_validation() ? "validation of " : "",
                           state.epochs_done() + 1, state.step));
  }
}

void say_how_it_ended(RunFolder& folder, RunEnd end, Task task, const State& state,
                      double seconds) {
  if (end == RunEnd::kNoProgress) folder.say("ended early: no better epoch for `patience` epochs");
  if (state.best) {
    folder.say(fmt::format("best       epoch {}: val {}  ({})", state.best->epoch + 1,
                           labelled(score_metric(task).name, state.best->score),
                           folder.best_weights().string()));
  }
  folder.say(
      fmt::format("time       {:.1f} s in this process, {} steps in all", seconds, state.step));
}

ImageSources images_of(const RunSettings& run, const TrainData& data) {
  return {.train = data.train,
          .validation = data.validation,
          .policy = data.policy,
          .validation_policy = data.validation_policy,
          .feed = training_feed_options(data, run.train)};
}

nlohmann::ordered_json facts_of(const RunSettings& run, const TrainSetup& setup,
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
           {{"name", run.data},
            {"train_samples", setup.data.train->size()},
            {"validation_samples", setup.data.validation->size()},
            {"validation", setup.parts.validation_origin},
            {"test_samples", setup.parts.test ? setup.parts.test->size() : 0},
            {"shape", {shape.height, shape.width, shape.channels}},
            {"augmentation", setup.data.policy.text()},
            {"validation_framing", setup.data.validation_policy.text()}}},
          {"task", run.task},
          {"classes", output_names(*setup.data.train)},
          {"model",
           {{"architecture", model.architecture()},
            {"parameters", parameter_count(model)},
            {"trained_parameters", count_of(model.trainable_parameters())}}},
          {"seed", run.train.feed.seed},
          {"data_order_version", kDataOrderVersion},
          {"epoch_samples", epoch_samples(run, setup.data)},
          {"machine", std::move(machine)},
          {"versions", std::move(versions)},
          {"settings_digest", digest.hex()},
          {"first_batch_digest", first_batch_digest(images_of(run, setup.data))}};
}

}  // namespace stoker
