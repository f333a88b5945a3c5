#include "stoker/cli/top_losses.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/image/png.h"
#include "stoker/nn/autograd_model.h"
#include "stoker/report/heat_overlay.h"
#include "stoker/report/image_grid.h"

namespace stoker {
namespace {

bool has_feature_map(const Model& model) {
  const auto* network = dynamic_cast<const AutogradModel*>(&model);
  return network != nullptr && network->has_map();
}

// With the heat of the class that was predicted.
Image looked_at(const ModelAndData& opened, const Image& image, std::size_t predicted) {
  const Model& model = opened.model();
  const ImageShape& shape = image.shape();
  at::Tensor pixels = at::empty({1, shape.channels, shape.height, shape.width});
  normalise(pixels.data_ptr<float>(), image.view(), opened.options().normalisation);
  const at::Tensor classes = at::full({1}, static_cast<std::int64_t>(predicted), at::kLong);
  const at::Tensor heat =
      model.class_activation(pixels.to(model.device()), classes.to(model.device()))
          .to(at::kCPU)
          .contiguous();
  const Image shown = narrowed(image.view());
  return heat_overlay(shown.view(),
                      {heat.const_data_ptr<float>(), static_cast<std::size_t>(heat.numel())},
                      static_cast<int>(heat.size(1)), static_cast<int>(heat.size(2)));
}

}  // namespace

void TopLosses::add(const Predictions& predictions) {
  const auto classes = static_cast<std::size_t>(predictions.classes);
  for (std::size_t i = 0; i < predictions.labels.size(); ++i) {
    if (predictions.labels[i] < 0) continue;
    const auto shares = predictions.probabilities.subspan(i * classes, classes);
    const auto best = std::ranges::max_element(shares);
    const Entry entry{.index = predictions.indices[i],
                      .label = static_cast<std::size_t>(predictions.labels[i]),
                      .predicted = static_cast<std::size_t>(best - shares.begin()),
                      .probability = *best,
                      .loss = predictions.losses[i]};
    const auto place =
        std::ranges::upper_bound(entries_, entry.loss, std::greater<>(), &Entry::loss);
    if (entries_.size() == count_ && place == entries_.end()) continue;
    entries_.insert(place, entry);
    if (entries_.size() > count_) entries_.pop_back();
  }
}

void TopLosses::write(const std::filesystem::path& path, const ModelAndData& opened) const {
  if (entries_.empty()) {
    throw Error({.what = "there are no losses to show",
                 .path = path.string(),
                 .expected = "samples that have a class",
                 .found = "none"});
  }
  const std::vector<std::string>& names = opened.card().class_names;
  const bool with_heat = has_feature_map(opened.model());
  std::vector<GridCell> cells;
  SampleBuffer buffer;
  for (const Entry& entry : entries_) {
    auto sample = opened.source->read_framed(
        entry.index, {.framing = opened.options().policy.framing(), .key = {}}, buffer);
    Image image(sample.value().image);
    cells.push_back({.image = narrowed(image.view()),
                     .label = names[entry.label],
                     .prediction = GridPrediction{.name = names[entry.predicted],
                                                  .probability = entry.probability,
                                                  .right = entry.label == entry.predicted}});
    if (!with_heat) continue;
    cells.push_back({.image = looked_at(opened, image, entry.predicted),
                     .label = fmt::format("loss {:.2f}", entry.loss)});
  }
  constexpr int kColumns = 8;
  const int rows = static_cast<int>(cells.size() + kColumns - 1) / kColumns;
  const std::string title = with_heat
                                ? "Largest losses: class, prediction, and where the network looked"
                                : "Largest losses: class and prediction";
  write_png(path, image_grid(cells, {.columns = kColumns, .rows = rows, .title = title}).view());
}

}  // namespace stoker
