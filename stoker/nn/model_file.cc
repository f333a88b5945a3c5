#include "stoker/nn/model_file.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/core/invariant.h"
#include "stoker/nn/finite_weights.h"
#include "stoker/nn/graph/exported_network.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr const char* kGraph = "stoker.graph";  // of exported networks, with its head's name
constexpr const char* kHead = "stoker.head";
constexpr const char* kImage = "stoker.image";
constexpr const char* kClasses = "stoker.classes";
constexpr const char* kMean = "stoker.mean";
constexpr const char* kDeviation = "stoker.std";
constexpr const char* kFraming = "stoker.framing";
constexpr const char* kDivision = "stoker.division";
constexpr const char* kTask = "stoker.task";
constexpr const char* kThresholds = "stoker.thresholds";
constexpr const char* kTargetMean = "stoker.target_mean";
constexpr const char* kTargetDeviation = "stoker.target_std";
constexpr const char* kDepth = "stoker.depth";    // where it is not 8
constexpr const char* kWindow = "stoker.window";  // where there is one
// Any real number of classes, and no more memory than the header itself took.
constexpr std::size_t kMaxClasses = 1 << 20;

[[noreturn]] void fail(const std::string& path, const char* key, std::string expected,
                       std::string found, std::vector<ErrorDetails> causes = {}) {
  throw Error({.what = fmt::format("the model file's {} cannot be used", key),
               .path = path,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "Was it made by `stoker train`?",
               .causes = std::move(causes)});
}

const std::string& value_of(const SafetensorsMetadata& metadata, const char* key,
                            const std::string& path) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) fail(path, key, "it in the metadata", "none");
  return found->second;
}

template <class T>
T parse_list(const SafetensorsMetadata& metadata, const char* key, const std::string& path,
             const char* expected) {
  const std::string& text = value_of(metadata, key, path);
  try {
    return Json::parse(text).get<T>();
  } catch (const Json::exception& error) {
    fail(path, key, expected, text.substr(0, 100), {details_of(error)});
  }
}

ImageShape parse_image(const SafetensorsMetadata& metadata, const std::string& path) {
  const std::string& text = value_of(metadata, kImage, path);
  ImageShape shape;
  int used = 0;
  if (std::sscanf(text.c_str(), "%7dx%7dx%1d%n", &shape.height, &shape.width, &shape.channels,
                  &used) != 3 ||
      used != static_cast<int>(text.size())) {
    fail(path, kImage, "HEIGHTxWIDTHxCHANNELS, e.g. 28x28x1", text.substr(0, 100));
  }
  if (metadata.contains(kDepth)) {
    if (metadata.at(kDepth) != "16") fail(path, kDepth, "16", metadata.at(kDepth).substr(0, 100));
    shape.depth = 16;
  }
  check_shape(shape);
  return shape;
}

// Three for images of up to three channels, as older programs expect.
std::size_t numbers_of(const ImageShape& image) { return image.channels == 4 ? 4 : 3; }

std::string numbers_text(const ChannelNumbers& numbers, const ImageShape& image) {
  return Json(std::vector<double>(numbers.begin(), numbers.begin() + numbers_of(image))).dump();
}

ChannelNumbers channel_numbers(const SafetensorsMetadata& metadata, const char* key,
                               const ImageShape& image, const std::string& path) {
  const auto found =
      parse_list<std::vector<double>>(metadata, key, path, "a number for each channel");
  if (found.size() != numbers_of(image)) {
    fail(path, key, fmt::format("{} numbers", numbers_of(image)), fmt::format("{}", found.size()));
  }
  ChannelNumbers numbers{};
  std::copy(found.begin(), found.end(), numbers.begin());
  return numbers;
}

void check_preprocessing(const Preprocessing& preprocessing, const ImageShape& image,
                         const std::string& path) {
  for (std::size_t i = 0; i < numbers_of(image); ++i) {
    const double mean = preprocessing.mean[i], deviation = preprocessing.deviation[i];
    if (std::isfinite(mean) && std::isfinite(deviation) && deviation > 0) continue;
    fail(path, kDeviation, "finite means, and deviations above 0",
         fmt::format("{} and {}", mean, deviation));
  }
}

Task parse_card_task(const SafetensorsMetadata& metadata, const std::string& path) {
  const auto found = metadata.find(kTask);
  if (found == metadata.end()) return Task::kClassify;
  try {
    return parse_task(found->second);
  } catch (const Error& error) {
    fail(path, kTask, error.details().expected, found->second.substr(0, 100));
  }
}

// One for each output, in a range.
std::vector<double> parse_outputs(const SafetensorsMetadata& metadata, const char* key,
                                  const ModelCard& card, const std::string& path,
                                  bool (*fits)(double)) {
  std::vector<double> values =
      parse_list<std::vector<double>>(metadata, key, path, "a JSON list of numbers");
  if (values.size() != card.class_names.size()) {
    fail(path, key, fmt::format("{} numbers", card.class_names.size()),
         fmt::format("{}", values.size()));
  }
  for (const double value : values) {
    if (!fits(value)) fail(path, key, "numbers in their range", fmt::format("{}", value));
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
      {kImage, shape_text(card.input.image)},
      {kClasses, Json(card.class_names).dump()},
      {kMean, numbers_text(preprocessing.mean, card.input.image)},
      {kDeviation, numbers_text(preprocessing.deviation, card.input.image)}};
  if (!card.graph.empty()) {
    metadata[kGraph] = card.graph.text;
    metadata[kHead] = card.graph.head;
  }
  if (card.input.image.depth != 8) metadata[kDepth] = fmt::format("{}", card.input.image.depth);
  if (!preprocessing.window.empty()) metadata[kWindow] = preprocessing.window;
  if (!preprocessing.framing.empty()) metadata[kFraming] = preprocessing.framing;
  if (!card.division.empty()) metadata[kDivision] = card.division;
  add_task(metadata, card);
  return metadata;
}

ModelCard read_card(const SafetensorsMetadata& metadata, const std::string& path) {
  ModelCard card;
  card.architecture = value_of(metadata, kArchitectureKey, path);
  card.class_names =
      parse_list<std::vector<std::string>>(metadata, kClasses, path, "a JSON list of class names");
  if (card.class_names.empty() || card.class_names.size() > kMaxClasses) {
    fail(path, kClasses, fmt::format("1 to {} classes", kMaxClasses),
         fmt::format("{}", card.class_names.size()));
  }
  card.input = {.image = parse_image(metadata, path),
                .classes = static_cast<std::int64_t>(card.class_names.size())};
  if (metadata.contains(kGraph)) {
    card.graph = {.text = metadata.at(kGraph), .head = value_of(metadata, kHead, path)};
  }
  card.preprocessing = {.mean = channel_numbers(metadata, kMean, card.input.image, path),
                        .deviation = channel_numbers(metadata, kDeviation, card.input.image, path)};
  if (metadata.contains(kWindow)) card.preprocessing.window = metadata.at(kWindow);
  if (metadata.contains(kFraming)) card.preprocessing.framing = metadata.at(kFraming);
  if (metadata.contains(kDivision)) card.division = metadata.at(kDivision);
  check_preprocessing(card.preprocessing, card.input.image, path);
  read_task(card, metadata, path);
  return card;
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
