#include "stoker/train/state.h"

#include <algorithm>
#include <cstdlib>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity; the shortest text that reads back to the same bits.
std::string text_of(double value) { return fmt::format("{}", value); }
double number_of(const Json& text) {
  return std::strtod(text.get_ref<const std::string&>().c_str(), nullptr);
}

Json json_of(const LossWatchNumbers& watch) {
  return {{"steps", watch.steps},
          {"first_loss", text_of(watch.first_loss)},
          {"first_sum", text_of(watch.first_sum)},
          {"mean", text_of(watch.mean)},
          {"steps_above", watch.steps_above},
          {"finite", watch.finite},
          {"epoch_sum", text_of(watch.epoch_sum)}};
}

// Checkpoints of earlier versions have none: the watch begins with the next step.
LossWatchNumbers loss_watch_of(const Json& json, const EpochSums& sums) {
  if (!json.contains("loss_watch")) return {.epoch_sum = sums.loss.item<double>()};
  const Json& watch = json.at("loss_watch");
  return {.steps = watch.at("steps"),
          .first_loss = number_of(watch.at("first_loss")),
          .first_sum = number_of(watch.at("first_sum")),
          .mean = number_of(watch.at("mean")),
          .steps_above = watch.at("steps_above"),
          .finite = watch.at("finite"),
          .epoch_sum = number_of(watch.at("epoch_sum"))};
}

}  // namespace

void LossScale::after_step(bool finite) {
  constexpr std::uint32_t kGoodStepsToGrow = 2000;
  constexpr double kLeast = 1, kMost = 0x1p24;
  if (!finite) {
    scale = std::max(kLeast, scale / 2);
    good_steps = 0;
  } else if (++good_steps == kGoodStepsToGrow) {
    scale = std::min(kMost, scale * 2);
    good_steps = 0;
  }
}

State::State(std::unique_ptr<Model> made, const OptimiserOptions& options,
             const AverageOptions& average_options)
    : model(std::move(made)),
      optimiser(model->trainable_stages(), options),
      loss_watch(model->input().classes) {
  if (average_options.decay != 0 || average_options.equal_from > 0)
    average.emplace(*model, average_options);
  clear_sums();
}

EpochSums State::empty_sums() const {
  return {.loss = at::zeros({}, at::TensorOptions(at::kDouble).device(model->device())),
          .right = at::zeros({}, at::TensorOptions(at::kLong).device(model->device())),
          .samples = 0};
}

std::vector<NamedTensor> tensors_of(const State& state) {
  std::vector<NamedTensor> named;
  for (const NamedTensor& t : all_tensors(*state.model)) {
    named.push_back({"model." + t.name, t.tensor});
  }
  for (const NamedTensor& t : state.optimiser.state()) {
    named.push_back({"optimiser." + t.name, t.tensor});
  }
  if (state.average) {
    for (const NamedTensor& t : state.average->tensors()) {
      named.push_back({"average." + t.name, t.tensor});
    }
  }
  named.push_back({"epoch.loss", state.sums.loss});
  named.push_back({"epoch.right", state.sums.right});
  return named;
}

std::string numbers_of(const State& state) {
  Json json = {
      {"epoch", state.cursor.epoch},
      {"position", state.cursor.position},
      {"step", state.step},
      {"batch_parts", state.batch_parts},
      {"loss_scale",
       {{"scale", text_of(state.loss_scale.scale)}, {"good_steps", state.loss_scale.good_steps}}},
      {"epoch_samples", state.sums.samples},
      {"loss_watch", json_of(state.loss_watch.numbers())},
      {"samples_digest", fmt::format("{:016x}", state.samples_digest)},
      {"plateau",
       {{"best", text_of(state.plateau.best)},
        {"bad_epochs", state.plateau.bad_epochs},
        {"factor", text_of(state.plateau.factor)}}}};
  if (!state.teacher.empty()) json["teacher"] = state.teacher;
  if (state.best) {
    // Checkpoints call every task's score so.
    json["best"] = {{"epoch", state.best->epoch}, {"top1", text_of(state.best->score)}};
  }
  return json.dump();
}

void read_state(State& state, const SafetensorsFile& file, const std::string& numbers,
                const std::string& path) {
  read_tensors(tensors_of(state), file, path);
  read_numbers(state, numbers, path);
}

void read_numbers(State& state, const std::string& numbers, const std::string& path) {
  try {
    const Json json = Json::parse(numbers);
    state.cursor = {.epoch = json.at("epoch"), .position = json.at("position")};
    state.step = json.at("step");
    state.batch_parts = json.at("batch_parts");
    const Json& scale = json.at("loss_scale");
    state.loss_scale = {.scale = number_of(scale.at("scale")),
                        .good_steps = scale.at("good_steps")};
    state.sums.samples = json.at("epoch_samples");
    state.loss_watch.set(loss_watch_of(json, state.sums));
    state.samples_digest =
        std::strtoull(json.at("samples_digest").get_ref<const std::string&>().c_str(), nullptr, 16);
    const Json& plateau = json.at("plateau");
    state.plateau = {.best = number_of(plateau.at("best")),
                     .bad_epochs = plateau.at("bad_epochs"),
                     .factor = number_of(plateau.at("factor"))};
    state.teacher = json.value("teacher", "");
    state.best.reset();
    if (json.contains("best")) {
      state.best = {.epoch = json["best"].at("epoch"), .score = number_of(json["best"].at("top1"))};
    }
  } catch (const Json::exception& error) {
    throw Error({.what = "the checkpoint's numbers cannot be read",
                 .path = path,
                 .found = error.what(),
                 .hint = "Was it made by another version of stoker?"});
  }
}

}  // namespace stoker
