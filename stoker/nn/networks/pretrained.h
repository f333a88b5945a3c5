// Weights that others have trained, put into a network: safetensors or PyTorch's files.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "stoker/nn/model.h"
#include "stoker/nn/model_file.h"

namespace stoker {

// A file that torchvision publishes; its name ends with the first digits of its SHA-256.
struct PublishedWeights {
  std::string_view architecture, file;
};
// Of several of a network, the one that is meant by the network's name comes first.
[[nodiscard]] std::span<const PublishedWeights> published_weights();
// Where they are, as torchvision's own table of weights (its WeightsEnum) has it.
inline constexpr const char* kPublishedAddress = "https://download.pytorch.org/models";

// Copies what the file has into the model. A head of another shape stays as the model has it; of
// everything else nothing may be missing. Returns what was done, in a few lines. Throws Error where
// the file is not there (with the name under which it is published), is no file of weights, or does
// not fit; the model is unchanged then.
// So does a file with a weight that is NaN or infinite, unless `allow_nonfinite`.
std::string load_pretrained(Model& model, const std::filesystem::path& path,
                            bool allow_nonfinite = false);

// A model of such weights alone, the head's too: Error where anything does not fit. The card says
// what they are for; where it has no class names, they are the numbers of the outputs of the only
// linear layer.
[[nodiscard]] LoadedModel load_published(const std::filesystem::path& path, ModelCard card,
                                         bool allow_nonfinite = false);

}  // namespace stoker
