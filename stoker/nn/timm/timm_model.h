// Models of folders in Hugging Face's form (nn/timm/timm_folder.h).
#pragma once

#include <filesystem>

#include "stoker/nn/model_file.h"

namespace stoker {

// A model file of ours, or the model.safetensors of such a folder. Throws Error where it is neither
// or does not fit its network.
[[nodiscard]] LoadedModel load_described_model(const std::filesystem::path& weights,
                                               bool allow_nonfinite = false);

// Writes model.safetensors and config.json, which timm.create_model("local-dir:FOLDER",
// pretrained=True) reads. The same model always makes the same bytes. Throws Error where timm does
// not have the network, or cannot prepare images as the card says.
void write_timm_folder(const std::filesystem::path& folder, const Model& model,
                       const ModelCard& card);

}  // namespace stoker
