// Storages of a PyTorch file: the blocks of values that its tensors look into. The pickle names
// them with a type and a number of values; where they lie depends on the format of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/io/pickle.h"
#include "stoker/io/safetensors.h"

namespace stoker::detail {

// A PyTorch file that is being read.
struct TorchSource {
  std::span<const std::byte> bytes;
  std::string file;             // for messages
  std::uint64_t pickle_at = 0;  // where the pickle lies: faults without a better place are there
};

// "torch.FloatStorage" for kF32: how writers name it. Readers also know torch.cuda's.
[[nodiscard]] std::string_view storage_class(DType dtype);
[[nodiscard]] std::optional<DType> dtype_of_storage_class(std::string_view name);
// All names that a file of weights may use.
[[nodiscard]] std::span<const PickleGlobal> torch_globals();

// What a pickle says about a storage: the id of a kPersistent.
struct StorageId {
  std::string_view key;
  DType dtype = DType::kF32;
  std::uint64_t bytes = 0;
};
[[nodiscard]] StorageId storage_id(const Pickle& pickle, const PickleValue& persistent,
                                   const TorchSource& source);

struct TorchStorage {
  DType dtype = DType::kF32;         // of the first tensor that names it
  std::uint64_t expected_bytes = 0;  // as the pickle has it
  std::optional<std::span<const std::byte>> bytes = {};
};
using TorchStorages = std::map<std::string_view, TorchStorage>;  // by key

// All that the pickle names, not yet placed. Throws Error where two names of one contradict.
[[nodiscard]] TorchStorages named_storages(const Pickle& pickle, const TorchSource& source);

// Where they lie in the old format: each behind its number of values, in the order of `keys`, from
// byte `at` to the end of the file. Throws Error unless each storage is there once.
void place_storages(TorchStorages& storages, std::span<const std::string_view> keys,
                    std::uint64_t at, const TorchSource& source);

}  // namespace stoker::detail
