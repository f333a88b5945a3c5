// The public class of stoker/predict.h.
#include "stoker/predict.h"

#include <algorithm>
#include <utility>

#include "stoker/nn/model_file.h"
#include "stoker/nn/timm/timm_model.h"
#include "stoker/run/image_prediction.h"
#include "stoker/run/model_data.h"
#include "stoker/run/ready_model.h"
#include "stoker/run/run_input.h"
#include "stoker/run/weights_path.h"
#include "stoker/train/evaluate.h"

namespace stoker {
namespace {

ImagePrediction of_sample(const Predictions& batch, std::size_t row, const Source& source,
                          const ModelCard& card) {
  const auto classes = static_cast<std::size_t>(batch.classes);
  ImagePrediction found =
      image_prediction(card, batch.probabilities.subspan(row * classes, classes));
  found.name = source.sample_name(batch.indices[row]);
  return found;
}

}  // namespace

ImagePrediction image_prediction(const ModelCard& card, std::span<const float> outputs) {
  ImagePrediction found{.name = {}, .label = {}, .probabilities = {outputs.begin(), outputs.end()}};
  if (card.task == Task::kRegress) return found;
  const auto best = std::ranges::max_element(outputs);
  found.label = card.class_names[static_cast<std::size_t>(best - outputs.begin())];
  found.probability = *best;
  if (card.task == Task::kClassify) return found;
  for (std::size_t c = 0; c < outputs.size(); ++c) {
    const double threshold = card.thresholds.empty() ? 0.5 : card.thresholds[c];
    if (outputs[c] >= threshold) found.labels.push_back(card.class_names[c]);
  }
  return found;
}

struct Predictor::State {
  ReadyModel ready;
  std::string weights;
};

Predictor::Predictor(const std::string& weights, const PredictOptions& options)
    : state_(std::make_unique<State>()) {
  state_->weights = weights_path(weights);
  state_->ready = make_ready(
      load_described_model(state_->weights),
      {.workers = options.workers, .threads = options.threads, .device = options.device},
      {.batch_size = options.batch_size}, checked_engine(options.engine, options.precision));
}

Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

const std::vector<std::string>& Predictor::class_names() const {
  return state_->ready.loaded.card.class_names;
}

std::vector<ImagePrediction> Predictor::predict(const std::string& data) {
  ModelCard card = state_->ready.loaded.card;
  card.division.clear();  // all of the data is meant, also where the run trained on a part of it
  ModelDataRequest request;
  request.data = data;
  request.weights = state_->weights;
  request.options.table = with_run_columns({}, state_->weights);
  request.options.needs_labels = false;
  ModelData opened = open_model_data(card, request);
  const EvaluationPart& part = opened.part;
  EvaluateOptions options = state_->ready.options;
  options.policy = std::move(opened.policy);
  std::vector<std::pair<std::uint64_t, ImagePrediction>> rows;
  stoker::predict(*state_->ready.loaded.model, part.source, options, [&](const Predictions& batch) {
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      rows.emplace_back(batch.indices[i], of_sample(batch, i, *part.source, card));
    }
    for (const SampleFault& fault : batch.skipped) {
      rows.emplace_back(
          fault.index,
          ImagePrediction{
              .name = fault.name, .label = {}, .probabilities = {}, .error = fault.reason});
    }
  });
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first; });
  std::vector<ImagePrediction> found;
  for (auto& [index, row] : rows) found.push_back(std::move(row));
  return found;
}

}  // namespace stoker
