// The JSON header of a safetensors file, read event by event: no tree is built, a key that comes
// twice is seen, and nothing nests deeper than the format does (object, object, array).
// What the header says about the values is checked in safetensors.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/io/safetensors.h"

namespace stoker::detail {

inline constexpr std::size_t kLengthBytes = 8;                 // the header's length, before it
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // as in the reference library
inline constexpr std::size_t kMaxDimensions = 64;              // more than any tensor library has
inline constexpr std::string_view kMetadataKey = "__metadata__";

struct HeaderEntry {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // counted from the end of the header
  std::uint64_t offset = 0;          // of this entry in the file, for messages
};

struct SafetensorsHeader {
  SafetensorsMetadata metadata;
  std::vector<HeaderEntry> entries;  // names may still come twice
};

// `json` is what follows the length; `file` is for messages. Throws Error.
[[nodiscard]] SafetensorsHeader parse_header(std::string_view json, const std::string& file);

}  // namespace stoker::detail
