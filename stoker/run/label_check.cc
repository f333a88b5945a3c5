#include "stoker/run/label_check.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/data/catalog.h"
#include "stoker/run/fold_folders.h"
#include "stoker/run/model_data.h"
#include "stoker/run/ready_model.h"
#include "stoker/run/weights_path.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

class LabelChecker {
 public:
  LabelChecker(const fs::path& folder, const LabelCheckOptions& options)
      : folder_(folder), options_(options) {}

  // `divided`: only the part of `split` that the model's run made of the training data.
  void check(const fs::path& weights, Split split, bool divided) {
    ReadyModel ready = make_ready(load_model(weights), options_.compute);
    ModelCard card = ready.loaded.card;
    if (!divided) card.division.clear();
    ModelData data = open_model_data(card, {.data = folder_.string(),
                                            .weights = weights.string(),
                                            .split = split,
                                            .options = {.pictures = {.limits = options_.limits}}});
    const Source& source = *data.part.source;
    if (source.class_names().empty()) return;  // nothing to doubt
    check_class_names(card.class_names, source.class_names(), weights.string());
    ready.options.policy = std::move(data.policy);
    predict(*ready.loaded.model, data.part.source, ready.options,
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
      result_.suspects.push_back({.path = path.lexically_relative(folder_).generic_string(),
                                  .label = names[label],
                                  .predicted = names[best],
                                  .label_probability = probabilities[label],
                                  .predicted_probability = probabilities[best]});
    }
    if (options_.progress) options_.progress(done_ += batch.indices.size() + batch.skipped.size());
  }

  const fs::path& folder_;
  const LabelCheckOptions& options_;
  std::uint64_t done_ = 0;
  LabelCheck result_;
};

}  // namespace

LabelCheck check_labels(const fs::path& folder, const std::string& weights,
                        const LabelCheckOptions& options) {
  const std::vector<fs::path> folds = fold_folders(weights);
  const DataParts parts = find_data_parts(folder.string());
  LabelChecker checker(folder, options);
  for (const fs::path& fold : folds) {
    checker.check(weights_path(fold.string()), Split::kValidation, true);
  }
  const fs::path first = weights_path(folds.empty() ? weights : folds.front().string());
  if (folds.empty()) checker.check(first, Split::kTrain, false);
  for (const Split split : {Split::kValidation, Split::kTest}) {
    if (parts.has(split)) checker.check(first, split, false);
  }
  LabelCheck result = std::move(checker).result();
  result.out_of_fold = !folds.empty();
  return result;
}

}  // namespace stoker
