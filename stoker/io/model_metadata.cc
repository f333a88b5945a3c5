#include "stoker/io/model_metadata.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stoker {
namespace {

// Any real number of classes, and no more memory than the header itself took.
constexpr std::size_t kMostModelClasses = 1 << 20;

template <class T>
T model_list(const SafetensorsMetadata& metadata, const char* key, const std::string& path,
             const char* expected) {
  const std::string& text = model_value(metadata, key, path);
  try {
    return nlohmann::json::parse(text).get<T>();
  } catch (const nlohmann::json::exception& error) {
    refuse_model_value(path, key, expected, text.substr(0, 100), {details_of(error)});
  }
}

ImageShape parse_model_image(const SafetensorsMetadata& metadata, const std::string& path) {
  const std::string& text = model_value(metadata, model_key::kImage, path);
  ImageShape shape;
  int used = 0;
  if (std::sscanf(text.c_str(), "%7dx%7dx%1d%n", &shape.height, &shape.width, &shape.channels,
                  &used) != 3 ||
      used != static_cast<int>(text.size())) {
    refuse_model_value(path, model_key::kImage, "HEIGHTxWIDTHxCHANNELS, e.g. 28x28x1",
                       text.substr(0, 100));
  }
  if (const auto depth = metadata.find(model_key::kDepth); depth != metadata.end()) {
    if (depth->second != "16") {
      refuse_model_value(path, model_key::kDepth, "16", depth->second.substr(0, 100));
    }
    shape.depth = 16;
  }
  check_shape(shape);
  return shape;
}

ChannelNumbers parse_channel_numbers(const SafetensorsMetadata& metadata, const char* key,
                                     const ImageShape& image, const std::string& path) {
  const auto found = model_numbers(metadata, key, path, "a number for each channel");
  if (found.size() != channel_numbers_of(image)) {
    refuse_model_value(path, key, fmt::format("{} numbers", channel_numbers_of(image)),
                       fmt::format("{}", found.size()));
  }
  ChannelNumbers numbers{};
  std::copy(found.begin(), found.end(), numbers.begin());
  return numbers;
}

void check_numbers(const ModelPreprocessing& found, const std::string& path) {
  for (std::size_t i = 0; i < channel_numbers_of(found.image); ++i) {
    const double mean = found.mean[i], deviation = found.deviation[i];
    if (std::isfinite(mean) && std::isfinite(deviation) && deviation > 0) continue;
    refuse_model_value(path, model_key::kDeviation, "finite means, and deviations above 0",
                       fmt::format("{} and {}", mean, deviation));
  }
}

}  // namespace

void refuse_model_value(const std::string& path, const char* key, std::string expected,
                        std::string found, std::vector<ErrorDetails> causes) {
  throw Error({.what = fmt::format("the model file's {} cannot be used", key),
               .path = path,
               .expected = std::move(expected),
               .found = std::move(found),
               .hint = "Was it made by `stoker train`?",
               .causes = std::move(causes)});
}

const std::string& model_value(const SafetensorsMetadata& metadata, const char* key,
                               const std::string& path) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) refuse_model_value(path, key, "it in the metadata", "none");
  return found->second;
}

std::vector<double> model_numbers(const SafetensorsMetadata& metadata, const char* key,
                                  const std::string& path, const char* expected) {
  return model_list<std::vector<double>>(metadata, key, path, expected);
}

std::size_t channel_numbers_of(const ImageShape& image) { return image.channels == 4 ? 4 : 3; }

std::vector<std::string> read_model_classes(const SafetensorsMetadata& metadata,
                                            const std::string& path) {
  auto names = model_list<std::vector<std::string>>(metadata, model_key::kClasses, path,
                                                    "a JSON list of class names");
  if (names.empty() || names.size() > kMostModelClasses) {
    refuse_model_value(path, model_key::kClasses, fmt::format("1 to {} classes", kMostModelClasses),
                       fmt::format("{}", names.size()));
  }
  return names;
}

ModelPreprocessing read_model_preprocessing(const SafetensorsMetadata& metadata,
                                            const std::string& path) {
  ModelPreprocessing found{.image = parse_model_image(metadata, path)};
  found.mean = parse_channel_numbers(metadata, model_key::kMean, found.image, path);
  found.deviation = parse_channel_numbers(metadata, model_key::kDeviation, found.image, path);
  if (metadata.contains(model_key::kWindow)) found.window = metadata.at(model_key::kWindow);
  if (metadata.contains(model_key::kFraming)) found.framing = metadata.at(model_key::kFraming);
  check_numbers(found, path);
  return found;
}

}  // namespace stoker
