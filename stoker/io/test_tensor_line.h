// For test programs that print files of tensors: one as a line of JSON.
#pragma once

#include <string>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "stoker/io/safetensors.h"

namespace stoker::test {

inline std::string line_for(const TensorView& tensor) {
  const auto* bytes = reinterpret_cast<const Bytef*>(tensor.bytes.data());
  nlohmann::ordered_json line;
  line["name"] = tensor.name;
  line["dtype"] = dtype_name(tensor.dtype);
  line["shape"] = tensor.shape;
  line["bytes"] = tensor.bytes.size();
  line["crc32"] = crc32_z(0, bytes, tensor.bytes.size());
  return line.dump();
}

}  // namespace stoker::test
