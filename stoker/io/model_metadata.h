// The metadata of a model file (nn/model_file.h) as far as it says how images become numbers. It
// needs no network, so programs that bring their own can use it.
#pragma once

#include <string>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/image/image.h"
#include "stoker/io/safetensors.h"
#include "stoker/kernels/normalise/normalise.h"

namespace stoker {

namespace model_key {
inline constexpr const char* kImage = "stoker.image";
inline constexpr const char* kClasses = "stoker.classes";
inline constexpr const char* kMean = "stoker.mean";
inline constexpr const char* kDeviation = "stoker.std";
inline constexpr const char* kFraming = "stoker.framing";
inline constexpr const char* kDepth = "stoker.depth";    // where it is not 8
inline constexpr const char* kWindow = "stoker.window";  // where there is one
}  // namespace model_key

// As Preprocessing of nn has it, and the shape of the images.
struct ModelPreprocessing {
  ImageShape image;
  ChannelNumbers mean = {}, deviation = {};
  std::string framing = {}, window = {};
};

// All throw Error where the metadata lacks it or it cannot be used; `path` is for messages.
[[nodiscard]] ModelPreprocessing read_model_preprocessing(const SafetensorsMetadata& metadata,
                                                          const std::string& path);
[[nodiscard]] std::vector<std::string> read_model_classes(const SafetensorsMetadata& metadata,
                                                          const std::string& path);
[[nodiscard]] const std::string& model_value(const SafetensorsMetadata& metadata, const char* key,
                                             const std::string& path);
// A JSON list of them.
[[nodiscard]] std::vector<double> model_numbers(const SafetensorsMetadata& metadata,
                                                const char* key, const std::string& path,
                                                const char* expected = "a JSON list of numbers");

// How many numbers a file has for the channels of such images: three for up to three channels, as
// older programs expect.
[[nodiscard]] std::size_t channel_numbers_of(const ImageShape& image);

[[noreturn]] void refuse_model_value(const std::string& path, const char* key, std::string expected,
                                     std::string found, std::vector<ErrorDetails> causes = {});

}  // namespace stoker
