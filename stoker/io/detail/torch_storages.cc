#include "stoker/io/detail/torch_storages.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "stoker/io/detail/text.h"
#include "stoker/io/detail/torch_errors.h"

namespace stoker::detail {
namespace {

using Kind = PickleValue::Kind;
using Use = PickleGlobal::Use;

struct StorageClass {
  DType dtype;
  std::string_view name, cuda_name;
};
constexpr std::array<StorageClass, 10> kClasses{{
    {DType::kBool, "torch.BoolStorage", "torch.cuda.BoolStorage"},
    {DType::kU8, "torch.ByteStorage", "torch.cuda.ByteStorage"},
    {DType::kI8, "torch.CharStorage", "torch.cuda.CharStorage"},
    {DType::kI16, "torch.ShortStorage", "torch.cuda.ShortStorage"},
    {DType::kF16, "torch.HalfStorage", "torch.cuda.HalfStorage"},
    {DType::kBf16, "torch.BFloat16Storage", "torch.cuda.BFloat16Storage"},
    {DType::kI32, "torch.IntStorage", "torch.cuda.IntStorage"},
    {DType::kF32, "torch.FloatStorage", "torch.cuda.FloatStorage"},
    {DType::kF64, "torch.DoubleStorage", "torch.cuda.DoubleStorage"},
    {DType::kI64, "torch.LongStorage", "torch.cuda.LongStorage"},
}};

// They are numbers. A long one would be compared again for each tensor that names it.
constexpr std::size_t kMaxKeyBytes = 64;

constexpr std::array<PickleGlobal, 6> kFunctions{{
    {"collections.OrderedDict", Use::kDict},
    {"torch._utils._rebuild_tensor_v2", Use::kCall},
    {"torch._utils._rebuild_tensor", Use::kCall},  // before PyTorch 0.4
    {"torch._utils._rebuild_parameter", Use::kCall},
    {"torch.nn.parameter.Parameter", Use::kCall},  // before PyTorch 0.4
    {"torch.Size", Use::kCall},
}};

[[noreturn]] void fail_id(const TorchSource& source, std::string expected, std::string found) {
  fail_torch(source.file, source.pickle_at, std::move(expected), std::move(found),
             kDamagedTorchFile);
}

std::uint64_t storage_bytes(const PickleValue& count, DType dtype, const TorchSource& source) {
  const std::optional<std::uint64_t> bytes = count.kind == Kind::kInteger
                                                 ? tensor_bytes(dtype, std::span(&count.integer, 1))
                                                 : std::nullopt;
  if (!bytes || *bytes > source.bytes.size()) {
    fail_id(source, fmt::format("storages inside the {} bytes of the file", source.bytes.size()),
            count.kind == Kind::kInteger
                ? fmt::format("one of {} values of {}", count.integer, dtype_name(dtype))
                : std::string(kind_name(count.kind)));
  }
  return *bytes;
}

}  // namespace

std::string_view storage_class(DType dtype) {
  return std::ranges::find(kClasses, dtype, &StorageClass::dtype)->name;
}

std::optional<DType> dtype_of_storage_class(std::string_view name) {
  const auto known = std::ranges::find_if(
      kClasses, [&](const StorageClass& c) { return c.name == name || c.cuda_name == name; });
  if (known == kClasses.end()) return std::nullopt;
  return known->dtype;
}

std::span<const PickleGlobal> torch_globals() {
  static const std::vector<PickleGlobal> all = [] {
    std::vector<PickleGlobal> list(kFunctions.begin(), kFunctions.end());
    for (const StorageClass& c : kClasses) {
      list.push_back({c.name});
      list.push_back({c.cuda_name});
    }
    return list;
  }();
  return all;
}

// ("storage", class, key, device, number of values), in the old format with a sixth: None, or what
// the storage is a view of.
StorageId storage_id(const Pickle& pickle, const PickleValue& persistent,
                     const TorchSource& source) {
  const PickleValue& id = pickle.items(persistent)[0];
  const auto parts = id.kind == Kind::kTuple ? pickle.items(id) : std::span<const PickleValue>{};
  const bool whole = (parts.size() == 5 || parts.size() == 6) && parts[0].kind == Kind::kText &&
                     pickle.text(parts[0]) == "storage" && parts[1].kind == Kind::kGlobal &&
                     parts[2].kind == Kind::kText && pickle.text(parts[2]).size() <= kMaxKeyBytes;
  if (!whole) fail_id(source, "a storage's class, key, device and size", "something else");
  const auto dtype = dtype_of_storage_class(pickle.global(parts[1]));
  if (!dtype) {
    fail_id(source, "a class of storages", std::string(pickle.global(parts[1])));
  }
  if (parts.size() == 6 && parts[5].kind != Kind::kNone) {
    fail_torch(source.file, source.pickle_at, "storages of their own",
               "one that is a part of another",
               "Load the file and save it again with a newer PyTorch.");
  }
  return {.key = pickle.text(parts[2]),
          .dtype = *dtype,
          .bytes = storage_bytes(parts[4], *dtype, source)};
}

TorchStorages named_storages(const Pickle& pickle, const TorchSource& source) {
  TorchStorages storages;
  for (const PickleValue& persistent : pickle.persistent()) {
    const StorageId id = storage_id(pickle, persistent, source);
    const auto [entry, fresh] =
        storages.try_emplace(id.key, TorchStorage{.dtype = id.dtype, .expected_bytes = id.bytes});
    if (fresh || entry->second.expected_bytes == id.bytes) continue;
    fail_id(source, fmt::format("one size of storage {}", printable(id.key)),
            fmt::format("{} and {} bytes", entry->second.expected_bytes, id.bytes));
  }
  return storages;
}

void place_storages(TorchStorages& storages, std::span<const std::string_view> keys,
                    std::uint64_t at, const TorchSource& source) {
  const auto fail = [&](std::string expected, std::string found, std::string_view hint) {
    fail_torch(source.file, at, std::move(expected), std::move(found), hint);
  };
  for (const std::string_view key : keys) {
    const auto named = storages.find(key);
    if (named == storages.end() || named->second.bytes) {
      fail("the storages that tensors use, each once", printable(key), kDamagedTorchFile);
    }
    TorchStorage& storage = named->second;
    constexpr std::uint64_t kCountBytes = 8;
    const std::uint64_t left = source.bytes.size() - at;
    if (left < kCountBytes || left - kCountBytes < storage.expected_bytes) {
      fail(fmt::format("storage {} of {} bytes", printable(key), storage.expected_bytes),
           "the end of the file", kCutShort);
    }
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < kCountBytes; ++i) {
      count |= std::to_integer<std::uint64_t>(source.bytes[at + i]) << (8 * i);
    }
    const std::uint64_t expected = storage.expected_bytes / dtype_bytes(storage.dtype);
    if (count != expected) {
      fail(fmt::format("{} values in storage {}", expected, printable(key)),
           fmt::format("{}", count), kDamagedTorchFile);
    }
    storage.bytes = source.bytes.subspan(at + kCountBytes, storage.expected_bytes);
    at += kCountBytes + storage.expected_bytes;
  }
  if (at != source.bytes.size()) {
    fail("the end of the file after the last storage",
         fmt::format("{} more bytes", source.bytes.size() - at), kDamagedTorchFile);
  }
  for (const auto& [key, storage] : storages) {
    if (!storage.bytes) fail("values for every storage", "none for " + printable(key), kCutShort);
  }
}

}  // namespace stoker::detail
