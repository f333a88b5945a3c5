// Where the weights are that a user names.
#pragma once

#include <filesystem>
#include <string>

namespace stoker {

// A run's folder stands for its best weights, one in Hugging Face's form for its
// model.safetensors; any other path for itself. Throws Error where a
// folder has no weights.
[[nodiscard]] std::filesystem::path weights_path(const std::string& given);

}  // namespace stoker
