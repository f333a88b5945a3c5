#include "stoker/nn/timm/timm_model.h"

#include <system_error>
#include <utility>

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include "stoker/core/atomic_file.h"
#include "stoker/core/error.h"
#include "stoker/nn/networks/pretrained.h"
#include "stoker/nn/tensor_views.h"
#include "stoker/nn/timm/timm_folder.h"

namespace stoker {
namespace {

LoadedModel load_timm_model(const std::filesystem::path& weights, const TimmFolder& folder,
                            bool allow_nonfinite) {
  const TimmConfig& config = folder.config;
  ModelCard card{.architecture = std::string(built_in_family(folder).architecture),
                 .input = {.image = {.height = static_cast<int>(config.image[1]),
                                     .width = static_cast<int>(config.image[2]),
                                     .channels = 3}},
                 .class_names = config.class_names,
                 .preprocessing = timm_preprocessing(folder)};
  for (std::int64_t i = 0; config.class_names.empty() && i < config.classes; ++i) {
    card.class_names.push_back(std::to_string(i));
  }
  return load_published(weights, std::move(card), allow_nonfinite);
}

}  // namespace

LoadedModel load_described_model(const std::filesystem::path& weights, bool allow_nonfinite) {
  const auto folder = timm_folder_of(weights);
  return folder ? load_timm_model(weights, *folder, allow_nonfinite)
                : load_model(weights, allow_nonfinite);
}

void write_timm_folder(const std::filesystem::path& folder, const Model& model,
                       const ModelCard& card) {
  if (card.task != Task::kClassify) {
    throw Error({.what = "timm's folders are for classifiers",
                 .expected = "a model for classify",
                 .found = fmt::format("one for {}", name_of(card.task))});
  }
  TimmConfig config = make_timm_config({.architecture = model.architecture(),
                                        .image = card.input.image,
                                        .class_names = card.class_names,
                                        .preprocessing = card.preprocessing});
  config.features = model.stages().back().parameters.front().tensor.size(1);
  const std::vector<NamedTensor> tensors = all_tensors(model);
  const FileTensors rows(tensors);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(
        {.what = "cannot make the folder", .path = folder.string(), .found = failed.message()});
  }
  write_safetensors(folder / "model.safetensors",
                    with_timm_names(*find_timm_family(model.architecture()), rows.views()),
                    {{"format", "pt"}}, "model");
  write_whole_file(folder / "config.json", timm_config_text(config), "config.json");
}

}  // namespace stoker
