#include "stoker/nn/model_file.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/nn/finite_weights.h"
#include "stoker/nn/networks/registry.h"
#include "stoker/nn/tensor_views.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr const char* kImage = "stoker.image";
constexpr const char* kClasses = "stoker.classes";
constexpr const char* kMean = "stoker.mean";
constexpr const char* kDeviation = "stoker.std";
constexpr const char* kFraming = "stoker.framing";
constexpr const char* kDivision = "stoker.division";
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
  check_shape(shape);
  return shape;
}

void check_preprocessing(const Preprocessing& preprocessing, const std::string& path) {
  for (std::size_t i = 0; i < 3; ++i) {
    const double mean = preprocessing.mean[i], deviation = preprocessing.deviation[i];
    if (std::isfinite(mean) && std::isfinite(deviation) && deviation > 0) continue;
    fail(path, kDeviation, "finite means, and deviations above 0",
         fmt::format("{} and {}", mean, deviation));
  }
}

}  // namespace

void save_model(const std::filesystem::path& path, const Model& model,
                const std::vector<std::string>& class_names, const Preprocessing& preprocessing) {
  save_model(path,
             {.architecture = model.architecture(),
              .input = model.input(),
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
  SafetensorsMetadata metadata = {{kArchitectureKey, card.architecture},
                                  {kImage, shape_text(card.input.image)},
                                  {kClasses, Json(card.class_names).dump()},
                                  {kMean, Json(preprocessing.mean).dump()},
                                  {kDeviation, Json(preprocessing.deviation).dump()}};
  if (!preprocessing.framing.empty()) metadata[kFraming] = preprocessing.framing;
  if (!card.division.empty()) metadata[kDivision] = card.division;
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
  using Channels = std::array<double, 3>;
  card.preprocessing = {
      .mean = parse_list<Channels>(metadata, kMean, path, "three numbers"),
      .deviation = parse_list<Channels>(metadata, kDeviation, path, "three numbers")};
  if (metadata.contains(kFraming)) card.preprocessing.framing = metadata.at(kFraming);
  if (metadata.contains(kDivision)) card.division = metadata.at(kDivision);
  check_preprocessing(card.preprocessing, path);
  return card;
}

namespace {

std::unique_ptr<Model> make_model_of(const ModelCard& card) {
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
  loaded.model = make_model_of(loaded.card);
  read_tensors(all_tensors(*loaded.model), file, path.string());
  if (!allow_nonfinite) require_finite(all_tensors(*loaded.model), path.string());
  return loaded;
}

void check_image_shape(const ModelCard& card, const ImageShape& shape,
                       const std::string& model_path) {
  if (card.input.image == shape) return;
  throw Error({.what = "the model was trained for other images than the data has",
               .path = model_path,
               .expected = shape_text(card.input.image),
               .found = shape_text(shape)});
}

void check_class_names(const std::vector<std::string>& model, const std::vector<std::string>& data,
                       const std::string& model_path) {
  if (model == data) return;
  if (data.empty()) {
    throw Error({.what = "the data has no classes",
                 .path = model_path,
                 .expected = fmt::format("the model's {} classes", model.size()),
                 .found = "images without classes",
                 .hint = "Put them into a folder for each class; `stoker predict` needs none"});
  }
  std::size_t i = 0;
  while (i < model.size() && i < data.size() && model[i] == data[i]) ++i;
  const auto name = [i](const std::vector<std::string>& names) {
    return i < names.size() ? fmt::format("\"{}\" for class {} of {}", names[i], i, names.size())
                            : fmt::format("only {} classes", names.size());
  };
  throw Error({.what = "the model was trained for other classes than the data has",
               .path = model_path,
               .expected = name(model),
               .found = fmt::format("{} in the data", name(data))});
}

}  // namespace stoker
