// A network in use as a .pt2 file, for Python's torch.export.load, LibTorch and Stoker itself.
#pragma once

#include <filesystem>

#include "stoker/nn/model.h"

namespace stoker {

struct ModelCard;

// For batches of any size. Batch norms use their running statistics and nothing is dropped. Throws
// Error where the network does not say what it computes, or the disk refuses.
void write_exported_network(const std::filesystem::path& path, const Model& model,
                            const ModelCard& card);

}  // namespace stoker
