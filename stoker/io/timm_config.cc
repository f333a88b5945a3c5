#include "stoker/io/timm_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/core/error.h"
#include "stoker/core/input_file.h"
#include "stoker/io/detail/limited_json.h"
#include "stoker/io/detail/text.h"

namespace stoker {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostClasses = 1 << 20;
constexpr std::int64_t kMostSide = 4096;
constexpr std::size_t kMostText = 1000;

[[noreturn]] void fail_config(const std::string& file, const std::string& key, std::string expected,
                              const Json& found, std::string hint = {}) {
  throw Error({.what = fmt::format("the folder's {} cannot be used", key),
               .path = file,
               .expected = std::move(expected),
               .found = detail::printable(
                   found.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace)),
               .hint = std::move(hint)});
}

// One object of the file. A value of null counts as none.
struct ConfigPart {
  const Json& json;
  const std::string& file;

  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
  }
  void read(const char* key, std::string& text) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    const bool fits =
        value->is_string() && value->get_ref<const std::string&>().size() <= kMostText;
    if (!fits) fail_config(file, key, "a short text", *value);
    text = value->get<std::string>();
  }
  void read(const char* key, std::int64_t& number, std::int64_t least, std::int64_t most) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    number = whole(key, *value, least, most);
  }
  void read(const char* key, double& number, double least, double most) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    number = real(key, *value, least, most);
  }
  void read(const char* key, std::array<double, 3>& numbers, double least, double most) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() != 3) fail_config(file, key, "three numbers", *value);
    for (std::size_t i = 0; i < 3; ++i) numbers[i] = real(key, (*value)[i], least, most);
  }
  void read_size(const char* key, std::array<std::int64_t, 3>& sizes) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() != 3) fail_config(file, key, "three sizes", *value);
    for (std::size_t i = 0; i < 3; ++i) sizes[i] = whole(key, (*value)[i], 1, kMostSide);
  }
  // The first of several: resnets with a deep stem have more than one first convolution.
  void read_module(const char* key, std::string& name) const {
    const Json* value = find(key);
    if (value != nullptr && value->is_string()) read(key, name);
  }

 private:
  [[nodiscard]] std::int64_t whole(const char* key, const Json& value, std::int64_t least,
                                   std::int64_t most) const {
    const bool fits = value.is_number_integer() && value >= least && value <= most;
    if (!fits) fail_config(file, key, fmt::format("{} to {}", least, most), value);
    return value.get<std::int64_t>();
  }
  [[nodiscard]] double real(const char* key, const Json& value, double least, double most) const {
    const double number = value.is_number() ? value.get<double>() : NAN;
    if (!(number >= least && number <= most)) {
      fail_config(file, key, fmt::format("{} to {}", least, most), value);
    }
    return number;
  }
};

void read_architecture(const ConfigPart& config, TimmConfig& result) {
  config.read("architecture", result.architecture);
  // "resnet50.a1_in1k": which weights they are changes nothing.
  result.architecture.resize(std::min(result.architecture.find('.'), result.architecture.size()));
  const bool fits =
      !result.architecture.empty() && std::ranges::all_of(result.architecture, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!fits) {
    const Json* found = config.find("architecture");
    fail_config(config.file, "architecture", "a network's name of a-z, 0-9 and _",
                found != nullptr ? *found : Json(), "Is it a config.json of timm?");
  }
}

// What timm would do with the network or its outputs and we do not.
void refuse_changes(const ConfigPart& config, const ConfigPart& pretrained) {
  const Json* arguments = config.find("model_args");
  if (arguments != nullptr && !arguments->empty()) {
    fail_config(config.file, "model_args", "none, since they change the network", *arguments,
                "Export the network with scripts/export_network.py");
  }
  std::int64_t offset = 0;
  pretrained.read("label_offset", offset, 0, kMostClasses);
  if (offset != 0) fail_config(config.file, "label_offset", "0", offset);
}

std::string label_text(const Json& label, const std::string& file) {
  const bool fits = label.is_string() && label.get_ref<const std::string&>().size() <= kMostText;
  if (!fits) fail_config(file, "label_names", "short texts", label);
  return label.get<std::string>();
}

// A list, or an object from the output's number to its name; outputs without a name get their
// number.
std::vector<std::string> read_labels(const Json& labels, std::int64_t classes,
                                     const std::string& file) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < classes; ++i) names.push_back(std::to_string(i));
  if (labels.is_array()) {
    if (labels.size() != names.size()) {
      fail_config(file, "label_names", fmt::format("{} names", classes), labels.size());
    }
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = label_text(labels[i], file);
    return names;
  }
  if (!labels.is_object()) fail_config(file, "label_names", "a list of names", labels);
  for (const auto& [key, label] : labels.items()) {
    std::int64_t number = -1;
    const char* end = key.data() + key.size();
    const auto parsed = std::from_chars(key.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end || number < 0 || number >= classes) {
      fail_config(file, "label_names", fmt::format("numbers below {} as keys", classes), key);
    }
    names[static_cast<std::size_t>(number)] = label_text(label, file);
  }
  return names;
}

void read_image_facts(const ConfigPart& pretrained, TimmConfig& result) {
  constexpr double kLeast = 1e-6, kMost = 1e6;
  pretrained.read_size("input_size", result.image);
  pretrained.read("mean", result.mean, -kMost, kMost);
  pretrained.read("std", result.deviation, kLeast, kMost);
  pretrained.read("interpolation", result.interpolation);
  pretrained.read("crop_pct", result.crop, kLeast, kMost);
  pretrained.read("crop_mode", result.crop_mode);
  pretrained.read_module("first_conv", result.first_conv);
  pretrained.read_module("classifier", result.classifier);
}

Json parse_config(std::string_view text, const std::string& file) {
  const detail::JsonLimits limits{.bytes = 64U << 20, .values = 1U << 22, .depth = 32};
  return detail::parse_limited_json(text, "config.json", file, limits);
}

}  // namespace

TimmConfig parse_timm_config(std::string_view text, const std::string& file) {
  const Json json = parse_config(text, file);
  if (!json.is_object()) fail_config(file, "config.json", "an object", json);
  const ConfigPart config{json, file};
  // Early files have one object for both.
  const Json* inner = config.find("pretrained_cfg");
  if (inner != nullptr && !inner->is_object()) {
    fail_config(file, "pretrained_cfg", "an object", *inner);
  }
  const ConfigPart pretrained{inner != nullptr ? *inner : json, file};
  TimmConfig result;
  read_architecture(config, result);
  refuse_changes(config, pretrained);
  pretrained.read("num_classes", result.classes, 1, kMostClasses);
  config.read("num_classes", result.classes, 1, kMostClasses);
  config.read("num_features", result.features, 0, kMostClasses);
  read_image_facts(pretrained, result);
  const Json* labels = config.find("label_names");
  if (labels == nullptr) labels = pretrained.find("label_names");
  if (labels != nullptr) result.class_names = read_labels(*labels, result.classes, file);
  return result;
}

TimmConfig read_timm_config(const std::filesystem::path& path) {
  const FileBytes file(path);
  return parse_timm_config(file.text(), path.string());
}

bool is_timm_config(const std::filesystem::path& path) {
  const FileBytes file(path);
  const Json json = parse_config(file.text(), path.string());
  return json.is_object() && json.contains("architecture");
}

std::string timm_config_text(const TimmConfig& config) {
  using Ordered = nlohmann::ordered_json;
  Ordered json = {{"architecture", config.architecture}, {"num_classes", config.classes}};
  if (config.features > 0) json["num_features"] = config.features;
  json["global_pool"] = "avg";
  if (!config.class_names.empty()) json["label_names"] = config.class_names;
  json["pretrained_cfg"] = {{"custom_load", false},
                            {"input_size", config.image},
                            {"fixed_input_size", false},
                            {"interpolation", config.interpolation},
                            {"crop_pct", config.crop},
                            {"crop_mode", config.crop_mode},
                            {"mean", config.mean},
                            {"std", config.deviation},
                            {"num_classes", config.classes},
                            {"first_conv", config.first_conv},
                            {"classifier", config.classifier}};
  return json.dump(2, ' ', /*ensure_ascii=*/false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace stoker
