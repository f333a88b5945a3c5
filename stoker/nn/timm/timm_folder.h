// A folder in Hugging Face's form: model.safetensors, and config.json as timm has it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stoker/image/image.h"
#include "stoker/io/timm_config.h"
#include "stoker/nn/preprocessing.h"
#include "stoker/nn/timm/timm_families.h"

namespace stoker {

// The config.json of timm that belongs to these weights: beside a file that is called
// model.safetensors.
[[nodiscard]] std::optional<std::filesystem::path> timm_config_of(
    const std::filesystem::path& weights);

struct TimmFolder {
  TimmConfig config;
  const TimmFamily* family = nullptr;  // none: the network is not built in
  std::string file;                    // the config.json
};
// Throws Error where the config cannot be read.
[[nodiscard]] TimmFolder read_timm_folder(const std::filesystem::path& config);

// Nothing unless the weights lie in such a folder; a model file of ours says itself what it is.
[[nodiscard]] std::optional<TimmFolder> timm_folder_of(const std::filesystem::path& weights);

// Throws Error where the network is not built in.
[[nodiscard]] const TimmFamily& built_in_family(const TimmFolder& folder);

// How timm evaluates the network: the policy that gives images their size. Throws Error where none
// of ours does the same.
[[nodiscard]] std::string timm_framing(const TimmFolder& folder);
[[nodiscard]] Preprocessing timm_preprocessing(const TimmFolder& folder);

// The other way round. Throws Error where timm cannot prepare images so.
struct TimmSubject {
  std::string architecture;
  ImageShape image;
  std::vector<std::string> class_names;
  Preprocessing preprocessing;
};
[[nodiscard]] TimmConfig make_timm_config(const TimmSubject& subject);

// "bicubic" of "resize_crop(256,224,3)": how a framing resizes, by timm's and Pillow's name.
[[nodiscard]] std::string framing_filter(const std::string& framing);

}  // namespace stoker
