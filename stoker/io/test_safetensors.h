// What the module's tests share: safetensors bytes made by hand, and a sample of all kinds of
// tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/test_files.h"
#include "stoker/io/safetensors.h"

namespace stoker {

// Length, header and `values` bytes that count up.
inline Bytes file_of(const std::string& header, std::size_t values = 0) {
  Bytes bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<std::uint8_t>(header.size() >> shift));
  }
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (std::size_t i = 0; i < values; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  return bytes;
}

inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, dtype,
                     shape, offsets);
}

// A few tensors of several types, with the values they point to.
struct Sample {
  Bytes values = Bytes(64);
  std::vector<TensorView> tensors;
  SafetensorsMetadata metadata{{"format", "pt"}, {"class \"names\"", "T-shirt\nÄrmel"}};

  Sample() {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(7 * i);
    add("bias", DType::kF32, {3}, 12);
    add("weight", DType::kF32, {1, 3}, 12);
    add("steps", DType::kI64, {}, 8);
    add("mask", DType::kBool, {5}, 5);
    add("half", DType::kBf16, {2, 1, 1}, 4);
    add("none", DType::kF64, {0, 7}, 0);
    add("größe", DType::kU8, {1}, 1);
  }
  void add(std::string name, DType dtype, std::vector<std::int64_t> shape, std::size_t bytes) {
    tensors.push_back({std::move(name), dtype, std::move(shape), as_span(values).first(bytes)});
  }
};

}  // namespace stoker
