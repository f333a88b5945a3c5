#include "stoker/run/label_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/data/catalog.h"
#include "stoker/nn/timm/timm_model.h"
#include "stoker/run/fold_folders.h"
#include "stoker/run/model_data.h"
#include "stoker/run/ready_model.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

std::string data_of(const LabelCheckRequest& request) {
  return request.data.empty() ? request.folder.string() : request.data;
}

DataOptions options_of(const LabelCheckRequest& request) {
  return {.images = {.limits = request.limits}, .table = request.table};
}

class LabelRanking {
 public:
  explicit LabelRanking(const LabelCheckRequest& request) : request_(request) {}

  [[nodiscard]] ReadyModel load(const std::string& weights) const {
    ComputeSettings compute;
    compute.workers = request_.workers;
    return make_ready(load_described_model(weights_path(weights)), compute);
  }

  // `divided`: only the part of `split` that the model's run made of the training data.
  void check(const ReadyModel& ready, Split split, bool divided) {
    ModelCard card = ready.loaded.card;
    if (!divided) card.division.clear();
    ModelData data = open_model_data(card, {.data = data_of(request_),
                                            .weights = request_.weights,
                                            .split = split,
                                            .options = options_of(request_)});
    const Source& source = *data.part.source;
    if (source.class_names().empty()) return;  // nothing to doubt
    check_class_names(card.class_names, source.class_names(), request_.weights);
    EvaluateOptions options = ready.options;
    options.policy = std::move(data.policy);
    predict(*ready.loaded.model, data.part.source, options,
            [&](const Predictions& batch) { add(batch, source, card.class_names); });
  }

  // The surest contradictions first; of equals the first image.
  [[nodiscard]] LabelCheck result() && {
    std::ranges::stable_sort(result_.suspects, std::greater<>(), [](const LabelSuspect& suspect) {
      return suspect.predicted_probability - suspect.label_probability;
    });
    return std::move(result_);
  }

 private:
  // As the doctor names it: a table's images may lie anywhere.
  [[nodiscard]] std::string shown_path(const fs::path& path) const {
    const fs::path relative = path.lexically_relative(request_.folder);
    const bool outside = relative.empty() || *relative.begin() == "..";
    return (outside && !request_.data.empty() ? path : relative).generic_string();
  }

  void add(const Predictions& batch, const Source& source, const std::vector<std::string>& names) {
    const auto classes = static_cast<std::size_t>(batch.classes);
    for (std::size_t i = 0; i < batch.indices.size(); ++i) {
      if (batch.labels[i] < 0) continue;
      const auto label = static_cast<std::size_t>(batch.labels[i]);
      const auto probabilities = batch.probabilities.subspan(i * classes, classes);
      const auto best =
          static_cast<std::size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
      ++result_.images;
      if (best == label) continue;
      const fs::path path = source.sample_name(batch.indices[i]);
      result_.suspects.push_back({.path = shown_path(path),
                                  .label = names[label],
                                  .predicted = names[best],
                                  .label_probability = probabilities[label],
                                  .predicted_probability = probabilities[best]});
    }
    if (request_.progress) request_.progress(done_ += batch.indices.size() + batch.skipped.size());
  }

  const LabelCheckRequest& request_;
  std::uint64_t done_ = 0;
  LabelCheck result_;
};

}  // namespace

LabelCheck check_labels(const LabelCheckRequest& request) {
  const std::vector<fs::path> folds = fold_folders(request.weights);
  LabelRanking ranking(request);
  const ReadyModel first = ranking.load(folds.empty() ? request.weights : folds.front().string());
  if (folds.empty()) {
    ranking.check(first, Split::kTrain, false);
  } else {
    ranking.check(first, Split::kValidation, true);
    for (std::size_t fold = 1; fold < folds.size(); ++fold) {
      ranking.check(ranking.load(folds[fold].string()), Split::kValidation, true);
    }
  }
  const DataParts parts = find_data_parts(data_of(request), options_of(request));
  for (const Split split : {Split::kValidation, Split::kTest}) {
    if (parts.has(split)) ranking.check(first, split, false);
  }
  LabelCheck result = std::move(ranking).result();
  result.out_of_fold = !folds.empty();
  return result;
}

}  // namespace stoker
