#include "stoker/nn/model_file.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/io/model_metadata.h"
#include "stoker/nn/finite_weights.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr const char* kGraph = "stoker.graph";  // of exported networks, with its head's name
constexpr const char* kHead = "stoker.head";
constexpr const char* kDivision = "stoker.division";
constexpr const char* kTask = "stoker.task";
constexpr const char* kThresholds = "stoker.thresholds";
constexpr const char* kTargetMean = "stoker.target_mean";
constexpr const char* kTargetDeviation = "stoker.target_std";

std::string numbers_text(const ChannelNumbers& numbers, const ImageShape& image) {
  return Json(std::vector<double>(
                  numbers.begin(),
                  numbers.begin() + static_cast<std::ptrdiff_t>(channel_numbers_of(image))))
      .dump();
}

Task parse_card_task(const SafetensorsMetadata& metadata, const std::string& path) {
  const auto found = metadata.find(kTask);
  if (found == metadata.end()) return Task::kClassify;
  try {
    return parse_task(found->second);
  } catch (const Error& error) {
    refuse_model_value(path, kTask, error.details().expected, found->second.substr(0, 100));
  }
}

// One for each output, in a range.
std::vector<double> parse_outputs(const SafetensorsMetadata& metadata, const char* key,
                                  const ModelCard& card, const std::string& path,
                                  bool (*fits)(double)) {
  std::vector<double> values = model_numbers(metadata, key, path);
  if (values.size() != card.class_names.size()) {
    refuse_model_value(path, key, fmt::format("{} numbers", card.class_names.size()),
                       fmt::format("{}", values.size()));
  }
  for (const double value : values) {
    if (fits(value)) continue;
    refuse_model_value(path, key, "numbers in their range", fmt::format("{}", value));
  }
  return values;
}

void read_task(ModelCard& card, const SafetensorsMetadata& metadata, const std::string& path) {
  card.task = parse_card_task(metadata, path);
  if (card.task == Task::kMultilabel && metadata.contains(kThresholds)) {
    card.thresholds = parse_outputs(metadata, kThresholds, card, path,
                                    [](double value) { return value >= 0 && value <= 1; });
  }
  if (card.task == Task::kRegress) {
    card.target_mean = parse_outputs(metadata, kTargetMean, card, path,
                                     [](double value) { return std::isfinite(value); });
    card.target_std = parse_outputs(metadata, kTargetDeviation, card, path,
                                    [](double value) { return std::isfinite(value) && value > 0; });
  }
}

void add_task(SafetensorsMetadata& metadata, const ModelCard& card) {
  if (card.task == Task::kClassify) return;
  metadata[kTask] = name_of(card.task);
  const auto add = [&](const char* key, const std::vector<double>& values) {
    STOKER_INVARIANT(values.size() == card.class_names.size(), "{}: {} numbers for {} outputs", key,
                     values.size(), card.class_names.size());
    metadata[key] = Json(values).dump();
  };
  if (card.task == Task::kMultilabel && !card.thresholds.empty()) add(kThresholds, card.thresholds);
  if (card.task == Task::kRegress) {
    add(kTargetMean, card.target_mean);
    add(kTargetDeviation, card.target_std);
  }
}

}  // namespace

void save_model(const std::filesystem::path& path, const Model& model,
                const std::vector<std::string>& class_names, const Preprocessing& preprocessing) {
  save_model(path,
             {.architecture = model.architecture(),
              .input = model.input(),
              .graph = model.graph(),
              .class_names = class_names,
              .preprocessing = preprocessing},
             all_tensors(model));
}

void save_model(const std::filesystem::path& path, const ModelCard& card,
                const std::vector<NamedTensor>& tensors) {
  const FileTensors rows(tensors);
  write_safetensors(path, rows.views(), card_metadata(card), "model");
}

SafetensorsMetadata card_metadata(const ModelCard& card) {
  const Preprocessing& preprocessing = card.preprocessing;
  SafetensorsMetadata metadata = {
      {kArchitectureKey, card.architecture},
      {model_key::kImage, shape_text(card.input.image)},
      {model_key::kClasses, Json(card.class_names).dump()},
      {model_key::kMean, numbers_text(preprocessing.mean, card.input.image)},
      {model_key::kDeviation, numbers_text(preprocessing.deviation, card.input.image)}};
  if (!card.graph.empty()) {
    metadata[kGraph] = card.graph.text;
    metadata[kHead] = card.graph.head;
  }
  if (card.input.image.depth != 8)
    metadata[model_key::kDepth] = fmt::format("{}", card.input.image.depth);
  if (!preprocessing.window.empty()) metadata[model_key::kWindow] = preprocessing.window;
  if (!preprocessing.framing.empty()) metadata[model_key::kFraming] = preprocessing.framing;
  if (!card.division.empty()) metadata[kDivision] = card.division;
  add_task(metadata, card);
  if (!card.calibration.empty()) metadata[kCalibrationKey] = calibration_text(card.calibration);
  if (!card.engines.empty()) metadata[kEnginesKey] = engine_trial_text(card.engines);
  return metadata;
}

ModelCard read_card(const SafetensorsMetadata& metadata, const std::string& path) {
  ModelCard card;
  card.architecture = model_value(metadata, kArchitectureKey, path);
  card.class_names = read_model_classes(metadata, path);
  const ModelPreprocessing found = read_model_preprocessing(metadata, path);
  card.input = {.image = found.image,
                .classes = static_cast<std::int64_t>(card.class_names.size())};
  if (metadata.contains(kGraph)) {
    card.graph = {.text = metadata.at(kGraph), .head = model_value(metadata, kHead, path)};
  }
  card.preprocessing = {.mean = found.mean,
                        .deviation = found.deviation,
                        .framing = found.framing,
                        .window = found.window};
  if (metadata.contains(kDivision)) card.division = metadata.at(kDivision);
  read_task(card, metadata, path);
  if (metadata.contains(kCalibrationKey)) {
    card.calibration = parse_calibration(metadata.at(kCalibrationKey), path);
  }
  if (metadata.contains(kEnginesKey)) {
    card.engines = parse_engine_trial(metadata.at(kEnginesKey), path);
  }
  return card;
}

const Calibration& needed_calibration(const ModelCard& card) {
  if (!card.calibration.empty()) return card.calibration;
  throw Error({.what = "the model was not calibrated for int8",
               .expected = "a model file with the ranges of its values",
               .found = "none",
               .hint = "`stoker calibrate DATA --weights MODEL` measures them on training data"});
}

namespace {

void note_text(const std::filesystem::path& path, const char* key, const std::string& text) {
  check_can_note(path);
  const SafetensorsFile file(path);
  SafetensorsMetadata metadata = file.metadata();
  metadata[key] = text;
  write_safetensors(path, file.tensors(), metadata, "model");
}

}  // namespace

void check_can_note(const std::filesystem::path& path) {
  if (path.extension() == ".safetensors") {
    const SafetensorsFile file(path);
    if (file.metadata().contains(kArchitectureKey)) return;
  }
  throw Error({.what = "only a model file of Stoker can keep this",
               .path = path.string(),
               .expected = fmt::format("a safetensors file with {}", kArchitectureKey),
               .found = "another file",
               .hint = "`stoker export WEIGHTS --model NAME --out FILE.safetensors` makes one"});
}

void note_in_model(const std::filesystem::path& path, const Calibration& calibration) {
  note_text(path, kCalibrationKey, calibration_text(calibration));
}

void note_in_model(const std::filesystem::path& path, const EngineTrial& engines) {
  note_text(path, kEnginesKey, engine_trial_text(engines));
}

namespace {

std::unique_ptr<Model> make_model_of(const ModelCard& card, const SafetensorsFile& file,
                                     const std::string& path) {
  if (!card.graph.empty()) {
    return make_exported_network(card.architecture, card.graph, card.input, file.tensors(), path);
  }
  try {
    return make_model(card.architecture, card.input, /*seed=*/0);
  } catch (const OptionError& error) {
    throw Error(error.details());  // the file names the network, no option does
  }
}

}  // namespace

LoadedModel load_model(const std::filesystem::path& path, bool allow_nonfinite) {
  const SafetensorsFile file(path);
  LoadedModel loaded{.model = nullptr, .card = read_card(file.metadata(), path.string())};
  loaded.model = make_model_of(loaded.card, file, path.string());
  read_tensors(all_tensors(*loaded.model), file, path.string());
  if (!allow_nonfinite) require_finite(all_tensors(*loaded.model), path.string());
  return loaded;
}

void check_image_shape(const ModelCard& card, const ImageShape& shape,
                       const std::string& model_path) {
  if (card.input.image == shape) return;
  const bool depth = card.input.image.depth == shape.depth;
  const auto text = [depth](const ImageShape& image) {
    return depth ? shape_text(image) : fmt::format("{} of {} bits", shape_text(image), image.depth);
  };
  throw Error({.what = "the model was trained for other images than the data has",
               .path = model_path,
               .expected = text(card.input.image),
               .found = text(shape)});
}

void check_class_names(const std::vector<std::string>& model, const std::vector<std::string>& data,
                       const std::string& model_path, Task task) {
  if (model == data) return;
  const char* one = task == Task::kRegress ? "target" : "class";
  const char* many = task == Task::kRegress ? "targets" : "classes";
  if (data.empty()) {
    throw Error({.what = fmt::format("the data has no {}", many),
                 .path = model_path,
                 .expected = fmt::format("the model's {} {}", model.size(), many),
                 .found = fmt::format("images without {}", many),
                 .hint = task == Task::kClassify
                             ? "Put them into a folder for each class; `stoker predict` needs none"
                             : "Name the columns of a table; `stoker predict` needs none"});
  }
  std::size_t i = 0;
  while (i < model.size() && i < data.size() && model[i] == data[i]) ++i;
  const auto name = [&](const std::vector<std::string>& names) {
    return i < names.size() ? fmt::format("\"{}\" for {} {} of {}", names[i], one, i, names.size())
                            : fmt::format("only {} {}", names.size(), many);
  };
  throw Error({.what = fmt::format("the model was trained for other {} than the data has", many),
               .path = model_path,
               .expected = name(model),
               .found = fmt::format("{} in the data", name(data))});
}

}  // namespace stoker
