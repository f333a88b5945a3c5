// Test program: `safetensors_cat FILE` prints a JSON line with the metadata and one for each
// tensor; `safetensors_cat FILE OUT` writes the same tensors and metadata to OUT.
// tests/safetensors_test.py compares both with what Python's safetensors says.
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "stoker/io/safetensors.h"

namespace {

std::string line_for(const stoker::TensorView& tensor) {
  const auto* bytes = reinterpret_cast<const Bytef*>(tensor.bytes.data());
  nlohmann::ordered_json line;
  line["name"] = tensor.name;
  line["dtype"] = stoker::dtype_name(tensor.dtype);
  line["shape"] = tensor.shape;
  line["bytes"] = tensor.bytes.size();
  line["crc32"] = crc32_z(0, bytes, tensor.bytes.size());
  return line.dump();
}

void print(const stoker::SafetensorsFile& file) {
  fmt::print("{}\n", nlohmann::json{{"metadata", file.metadata()}}.dump());
  for (const stoker::TensorView& tensor : file.tensors()) fmt::print("{}\n", line_for(tensor));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 && count != 3) {
    std::fputs("usage: safetensors_cat FILE [OUT]\n", stderr);
    return 2;
  }
  try {
    const stoker::SafetensorsFile file{std::filesystem::path(arguments[1])};
    if (count == 2) {
      print(file);
    } else {
      stoker::write_safetensors(arguments[2], file.tensors(), file.metadata());
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "safetensors_cat: {}\n", error.what());
    return 1;
  }
}
