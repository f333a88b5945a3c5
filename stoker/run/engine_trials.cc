#include "stoker/run/engine_trials.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "stoker/core/error.h"
#include "stoker/data/sources/subset.h"
#include "stoker/train/device_list.h"
#include "stoker/train/evaluate.h"

namespace stoker {
namespace {

constexpr std::uint64_t kBatches = 4;
constexpr int kRounds = 3;

// Keeps what a network is asked, and what it says.
class RecordingEngine final : public Engine {
 public:
  explicit RecordingEngine(const Model& model) : model_(model) {}

  at::Tensor forward(const at::Tensor& x) override {
    images.push_back(x.clone());
    logits.push_back(model_.forward(x).to(at::kFloat));
    return logits.back();
  }
  [[nodiscard]] std::string description() const override { return "as in training"; }

  std::vector<at::Tensor> images, logits;

 private:
  const Model& model_;
};

// Of each image, whether both say the same.
at::Tensor same_answers(Task task, const at::Tensor& found, const at::Tensor& expected) {
  if (task == Task::kClassify) return found.argmax(1) == expected.argmax(1);
  if (task == Task::kMultilabel) return ((found > 0) == (expected > 0)).all(1);
  const at::Tensor allowed = 1e-3 * expected.abs().clamp_min(1);
  return ((found - expected).abs() <= allowed).all(1);
}

struct Candidate {
  std::string name;
  std::shared_ptr<Engine> engine;  // none: the model itself
  std::vector<at::Tensor> images;
  std::vector<double> speeds = {};

  [[nodiscard]] at::Tensor forward(const Model& model, const at::Tensor& x) const {
    return engine ? engine->forward(x) : model.forward(x);
  }
};

EngineFigure figure_of(const Candidate& candidate, const RecordingEngine& exact, const Model& model,
                       Task task) {
  std::int64_t same = 0, images = 0;
  double largest = 0;
  for (std::size_t i = 0; i < exact.images.size(); ++i) {
    const at::Tensor found = candidate.forward(model, candidate.images[i]);
    same += same_answers(task, found, exact.logits[i]).sum().item<std::int64_t>();
    images += found.size(0);
    largest = std::max(largest, (found - exact.logits[i]).abs().max().item<double>());
    if (!at::isfinite(found).all().item<bool>()) largest = std::nan("");
  }
  return {.engine = candidate.name,
          .precision = {},
          .images_per_second = 0,
          .same = static_cast<double>(same) / static_cast<double>(images),
          .largest_difference = largest};
}

double speed_of(const Candidate& candidate, const Model& model) {
  const auto start = std::chrono::steady_clock::now();
  std::int64_t images = 0;
  for (const at::Tensor& batch : candidate.images) {
    images += candidate.forward(model, batch).size(0);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(images) / seconds.count();
}

std::shared_ptr<RecordingEngine> record(const ReadyModel& ready,
                                        const std::shared_ptr<const Source>& source) {
  const std::uint64_t wanted = kBatches * ready.options.batch_size;
  const auto part = std::make_shared<Subset>(source, std::min(wanted, source->size()), /*seed=*/0);
  auto recording = std::make_shared<RecordingEngine>(*ready.loaded.model);
  EvaluateOptions options = ready.options;
  options.engine = recording;
  options.more_views.clear();
  predict(*ready.loaded.model, part, options, [](const Predictions&) {});
  if (!recording->images.empty()) return recording;
  throw Error({.what = "cannot compare engines without images that can be read"});
}

// What was found earlier with other precisions, as long as it still holds.
std::vector<EngineFigure> other_figures(const EngineTrial& before, const EngineTrial& now,
                                        const std::string& precision) {
  if (before.cpu != now.cpu || before.threads != now.threads) return {};
  std::vector<EngineFigure> kept = before.figures;
  std::erase_if(kept, [&](const EngineFigure& figure) { return figure.precision == precision; });
  return kept;
}

}  // namespace

TriedEngines try_engines(ReadyModel& ready, const std::shared_ptr<const Source>& source,
                         const std::string& precision) {
  Model& model = *ready.loaded.model;
  if (!model.device().is_cpu()) {
    throw Error({.what = "engines are compared on a CPU",
                 .expected = "`device` cpu",
                 .found = model.device().str()});
  }
  const at::NoGradGuard no_grad;
  // Whatever it was opened with, the others are compared with float32.
  const Precision opened_with = model.precision();
  if (opened_with != Precision::kFloat32) model.compute_in(Precision::kFloat32);
  const auto recorded = record(ready, source);
  if (opened_with != Precision::kFloat32) model.compute_in(opened_with);
  const RecordingEngine& exact = *recorded;
  TriedEngines tried;
  std::vector<Candidate> candidates;
  for (const std::string& name : engine_names()) {
    try {
      Candidate candidate{
          .name = name,
          .engine = make_engine(model, ready.loaded.card, {.engine = name, .precision = precision},
                                ready.threads, ready.options.batch_size),
          .images = exact.images};
      if (candidate.engine && !candidate.engine->wants_channels_last()) {
        for (at::Tensor& batch : candidate.images) batch = batch.contiguous();
      }
      EngineFigure figure = figure_of(candidate, exact, model, ready.options.task);
      if (!std::isfinite(figure.largest_difference)) {
        tried.refused.push_back({name, "its results are not finite"});
        continue;
      }
      figure.precision = precision;
      tried.trial.figures.push_back(figure);
      candidates.push_back(std::move(candidate));
    } catch (const Error& error) {
      tried.refused.push_back({name, error.details().what});
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Candidate& candidate : candidates) candidate.speeds.push_back(speed_of(candidate, model));
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::ranges::sort(candidates[i].speeds);
    tried.trial.figures[i].images_per_second = candidates[i].speeds[kRounds / 2];
  }
  tried.trial.cpu = cpu_facts().name;
  tried.trial.threads = ready.threads;
  tried.trial.batch_size = ready.options.batch_size;
  for (const at::Tensor& batch : exact.images) {
    tried.trial.images += static_cast<std::uint64_t>(batch.size(0));
  }
  for (EngineFigure& figure : other_figures(ready.loaded.card.engines, tried.trial, precision)) {
    tried.trial.figures.push_back(std::move(figure));
  }
  return tried;
}

}  // namespace stoker
