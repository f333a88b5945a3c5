// Weights as PyTorch files (.pth, .pt): what Python's torch.save makes of a state_dict, in the zip
// format of PyTorch 1.6 and later and in the one before it.
//
// Such a file contains a program for Python's unpickler. It is read as data (io/pickle.h): only the
// names that tensors need are known, everything else is refused by its name, and nothing in a file
// is ever executed. Every length and place is checked before it is used; memory follows the size of
// the file, never a number in it. The file is read into memory once, where values stay; only
// tensors that do not lie there in a row are copied. Reading from any number of threads is safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/input_file.h"
#include "stoker/io/safetensors.h"

namespace stoker {

class TorchFile {
 public:
  TorchFile() = default;  // no tensors
  // Throws Error where the file cannot be read, breaks the format, or holds more than weights. Its
  // tensors are valid while this object, or the one it was moved to, lives.
  explicit TorchFile(const std::filesystem::path& path);

  // Of the state_dict, in its order; values of it that are no tensors are omitted.
  [[nodiscard]] const std::vector<TensorView>& tensors() const& noexcept { return tensors_; }
  // nullptr where there is none of that name. Logarithmic.
  [[nodiscard]] const TensorView* find(std::string_view name) const& noexcept;
  // Which part of the file the state_dict is: "" for all of it, "state_dict" for a checkpoint such
  // as {"state_dict": …, "epoch": 3}, "model.state_dict" for one inside another.
  [[nodiscard]] const std::string& part() const& noexcept { return part_; }
  // Not of a temporary: `for (… : TorchFile(path).tensors())` would read freed memory.
  void tensors() const&& = delete;
  void find(std::string_view name) const&& = delete;
  void part() const&& = delete;

 private:
  friend TorchFile parse_torch_file(std::span<const std::byte> bytes, const std::string& name);
  std::vector<TensorView> tensors_;
  std::vector<std::size_t> by_name_;  // places in tensors_
  std::string part_;
  std::vector<std::vector<std::byte>> copies_;
  FileBytes file_;
};

// The same for bytes in memory, which must outlive the result; `name` is for messages.
[[nodiscard]] TorchFile parse_torch_file(std::span<const std::byte> bytes, const std::string& name);

// Whether the bytes begin as a file of torch.save does.
[[nodiscard]] bool looks_like_torch_file(std::span<const std::byte> bytes) noexcept;

// Writes a state_dict in the zip format, for torch.load(path, weights_only=True): a file that
// either is there as a whole or leaves the old one (core/atomic_file.h). The same tensors in the
// same order make the same bytes. Throws Error where the disk refuses, or a name is empty, taken
// twice or not UTF-8, or bytes and shape disagree; messages call the file `subject`.
void write_torch_file(const std::filesystem::path& path, std::span<const TensorView> tensors,
                      const std::string& subject = "PyTorch file");
// What write_torch_file would write.
[[nodiscard]] std::vector<std::byte> encode_torch_file(std::span<const TensorView> tensors);

}  // namespace stoker
