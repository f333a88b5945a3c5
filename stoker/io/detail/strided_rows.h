// Tensors with any strides as rows of values: views of their storage where they lie in a row there,
// else copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stoker/io/safetensors.h"

namespace stoker::detail {

// As a file describes it; only `bytes` and the number of strides have been checked.
struct StridedTensor {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape, strides;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;  // of all values: tensor_bytes()
  std::span<const std::byte> storage;
};

// Copies are bounded as a whole, since many tensors, or one that repeats a value, can look into the
// same storage.
class StridedRows {
 public:
  explicit StridedRows(std::uint64_t most_copied) : copies_left_(most_copied) {}

  enum class Fault : std::uint8_t {
    kNone,
    kOutside,  // it reaches beyond its storage
    kRepeats,  // it would be copied, and too much was
  };
  // Sets `row` to the tensor's values.
  [[nodiscard]] Fault make(const StridedTensor& tensor, std::span<const std::byte>& row);

  // What the rows point to besides the storages.
  [[nodiscard]] std::vector<std::vector<std::byte>> take_copies() { return std::move(copies_); }

 private:
  std::uint64_t copies_left_;
  std::vector<std::vector<std::byte>> copies_;
};

// Of values that lie row by row, without gaps.
[[nodiscard]] std::vector<std::int64_t> row_strides(std::span<const std::int64_t> shape);

}  // namespace stoker::detail
