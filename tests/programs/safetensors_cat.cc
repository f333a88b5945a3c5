// Test program: `safetensors_cat FILE` prints a JSON line with the metadata and one for each
// tensor; `safetensors_cat FILE OUT` writes the same tensors and metadata to OUT.
// tests/safetensors_test.py compares both with what Python's safetensors says.
#include <cstdio>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stoker/io/safetensors.h"
#include "stoker/io/test_tensor_line.h"

namespace {

void print(const stoker::SafetensorsFile& file) {
  fmt::print("{}\n", nlohmann::json{{"metadata", file.metadata()}}.dump());
  for (const stoker::TensorView& tensor : file.tensors())
    fmt::print("{}\n", stoker::test::line_for(tensor));
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
