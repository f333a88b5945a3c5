// Weights as safetensors files: the length of a header (8 bytes, little-endian), the header (JSON:
// for each tensor its type, shape and place), then the values. Nothing in such a file is executed.
//
// Reading trusts nothing: every length and place is checked before it is used, and memory is taken
// in proportion to the file, never to a number in it. A file is read into memory once, and a
// TensorView points there: nobody can change or shorten it meanwhile. Reading from any number of
// threads is safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/input_file.h"

namespace stoker {

// In the order of the reference library, by which files are laid out: alignment never falls.
enum class DType { kBool, kU8, kI8, kI16, kF16, kBf16, kI32, kF32, kF64, kI64 };

[[nodiscard]] std::string_view dtype_name(DType dtype);  // "F32"
[[nodiscard]] std::size_t dtype_bytes(DType dtype);
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);

// The bytes of a tensor of this shape. nullopt where a size is negative or the product does not fit
// into 63 bits; sizes of 0 do not hide an overflow of the others, since strides are made of those.
[[nodiscard]] std::optional<std::uint64_t> tensor_bytes(DType dtype,
                                                        std::span<const std::int64_t> shape);

// One tensor, row-major and little-endian; `bytes` belongs to someone else. In a foreign file it
// need not be aligned, and a BOOL may be any byte: copy, and compare with 0.
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

using SafetensorsMetadata = std::map<std::string, std::string>;

class SafetensorsFile {
 public:
  SafetensorsFile() = default;  // no tensors
  // Throws Error where the file cannot be read or breaks the format. Its tensors are valid while
  // this object, or the one it was moved to, lives.
  explicit SafetensorsFile(const std::filesystem::path& path);

  // Not of a temporary: `for (… : SafetensorsFile(path).tensors())` would read freed memory.
  [[nodiscard]] const SafetensorsMetadata& metadata() const& noexcept { return metadata_; }
  // In the order of their values in the file.
  [[nodiscard]] const std::vector<TensorView>& tensors() const& noexcept { return tensors_; }
  // nullptr where there is none of that name. Logarithmic.
  [[nodiscard]] const TensorView* find(std::string_view name) const& noexcept;
  void metadata() const&& = delete;
  void tensors() const&& = delete;
  void find(std::string_view name) const&& = delete;

 private:
  friend SafetensorsFile parse_safetensors(std::span<const std::byte> bytes,
                                           const std::string& name);
  SafetensorsMetadata metadata_;
  std::vector<TensorView> tensors_;
  std::vector<std::size_t> by_name_;  // places in tensors_
  FileBytes file_;
};

// The same for bytes in memory, which must outlive the result; `name` is for messages.
[[nodiscard]] SafetensorsFile parse_safetensors(std::span<const std::byte> bytes,
                                                const std::string& name);

// Writes a file that either is there as a whole or leaves the old one (core/atomic_file.h). The
// same tensors and metadata, in any order, make the same bytes: those of the reference library.
// Throws Error where the disk refuses, or a name is empty, taken twice or not UTF-8, or bytes and
// shape disagree; messages call the file `subject`.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                       const SafetensorsMetadata& metadata = {},
                       const std::string& subject = "safetensors file");
// What write_safetensors would write.
[[nodiscard]] std::vector<std::byte> encode_safetensors(std::span<const TensorView> tensors,
                                                        const SafetensorsMetadata& metadata = {});

}  // namespace stoker
