// From the calls that a pickle records to tensors: where a tensor's values lie in its storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/io/detail/strided_rows.h"
#include "stoker/io/detail/torch_storages.h"
#include "stoker/io/pickle.h"
#include "stoker/io/safetensors.h"

namespace stoker::detail {

// Whether a call of the pickle makes a tensor or a parameter.
[[nodiscard]] bool is_tensor(const Pickle& pickle, const PickleValue& value);

// Makes views of a file's tensors, and copies of those whose values do not lie in a row. Copies are
// bounded by the size of the file, since many tensors, or one that repeats a value, can look into
// the same storage.
class TensorMaker {
 public:
  // All must outlive this.
  TensorMaker(const Pickle& pickle, const TorchStorages& storages, const TorchSource& source);

  // `value` is a tensor. Throws Error where it reaches beyond its storage or is invalid.
  [[nodiscard]] TensorView make(std::string name, const PickleValue& value);

  // What the views point to besides the file.
  [[nodiscard]] std::vector<std::vector<std::byte>> take_copies() { return rows_.take_copies(); }

 private:
  [[nodiscard]] PickleValue without_parameter(const PickleValue& value) const;
  [[nodiscard]] StridedTensor read_call(const PickleValue& call) const;
  [[nodiscard]] std::vector<std::int64_t> read_sizes(const PickleValue& value) const;
  [[nodiscard]] std::span<const std::byte> in_a_row(const StridedTensor& tensor);
  [[noreturn]] void fail(std::string expected, std::string found) const;

  const Pickle& pickle_;
  const TorchStorages& storages_;
  const TorchSource& source_;
  std::string name_;  // of the tensor that is being made
  StridedRows rows_;
};

}  // namespace stoker::detail
