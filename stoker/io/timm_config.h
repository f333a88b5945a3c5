// config.json of a folder in Hugging Face's form, as timm writes and reads it: the architecture's
// name, how images are prepared, names of classes.
//
// Read as data: size, nesting and every value are checked, and what would change the network in a
// way that is not understood is refused.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// What a file does not say is as timm 1.0 has it.
struct TimmConfig {
  std::string architecture = {};                      // "resnet50", without a tag
  std::int64_t classes = 1000;                        // outputs
  std::int64_t features = 0;                          // that the head takes; 0: not told
  std::string first_conv = {}, classifier = {};       // timm's names of the modules
  std::array<std::int64_t, 3> image = {3, 224, 224};  // channels, height, width
  std::array<double, 3> mean = {0.485, 0.456, 0.406};
  std::array<double, 3> deviation = {0.229, 0.224, 0.225};
  std::string interpolation = "bicubic";
  double crop = 0.875;  // the part of the resized image that is taken
  std::string crop_mode = "center";
  std::vector<std::string> class_names = {};  // one for each output, or none

  bool operator==(const TimmConfig&) const = default;
};

// `file` is for messages. Throws Error.
[[nodiscard]] TimmConfig parse_timm_config(std::string_view json, const std::string& file);
// Whether it names a network as timm does; other libraries have files of this name too. Throws
// Error where it is no JSON.
[[nodiscard]] bool is_timm_config(const std::filesystem::path& path);
[[nodiscard]] TimmConfig read_timm_config(const std::filesystem::path& path);

// The same config always makes the same text.
[[nodiscard]] std::string timm_config_text(const TimmConfig& config);

}  // namespace stoker
