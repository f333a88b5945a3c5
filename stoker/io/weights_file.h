// Weights from a file of any format that we read: safetensors, or PyTorch's. Which one it is stands
// in its first bytes, not in its name.
//
// Owns the file; move-only. Reading from any number of threads is safe.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stoker/io/safetensors.h"
#include "stoker/io/torch_file.h"

namespace stoker {

enum class WeightsFormat : std::uint8_t { kSafetensors, kTorch };

class WeightsFile {
 public:
  // Throws Error where the file cannot be read or is of neither format.
  explicit WeightsFile(const std::filesystem::path& path);

  [[nodiscard]] WeightsFormat format() const noexcept { return format_; }
  // In the file's order, by the names that a network without wrappers has (strip_common_prefix).
  [[nodiscard]] const std::vector<TensorView>& tensors() const& noexcept { return tensors_; }
  // Only safetensors has any.
  [[nodiscard]] const SafetensorsMetadata& metadata() const& noexcept;
  // What was taken off all names: "module.", or nothing.
  [[nodiscard]] const std::string& prefix() const& noexcept { return prefix_; }
  // Not of a temporary: the tensors would be freed.
  void tensors() const&& = delete;
  void metadata() const&& = delete;
  void prefix() const&& = delete;

 private:
  std::variant<SafetensorsFile, TorchFile> file_;
  WeightsFormat format_ = WeightsFormat::kSafetensors;
  std::vector<TensorView> tensors_;
  std::string prefix_;
};

// Takes off the names what PyTorch's wrappers put in front of all of them: "module." of
// data-parallel training, "_orig_mod." of a compiled network, in any order and number. A name that
// is nothing else keeps it. Returns what was taken off.
std::string strip_common_prefix(std::span<TensorView> tensors);

}  // namespace stoker
