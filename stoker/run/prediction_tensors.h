// How files of predictions keep rows of numbers: what prediction_file.h and target_table.h share.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "stoker/core/error.h"
#include "stoker/io/safetensors.h"

namespace stoker {

template <typename T>
[[nodiscard]] TensorView row_view(const char* name, DType dtype, const std::vector<T>& values) {
  return {.name = name,
          .dtype = dtype,
          .shape = {static_cast<std::int64_t>(values.size())},
          .bytes = std::as_bytes(std::span(values))};
}

[[noreturn]] inline void refuse_predictions(const std::filesystem::path& path,
                                            const std::string& expected, const std::string& found) {
  throw Error({.what = "this is not a run's file of predictions",
               .path = path.string(),
               .expected = expected,
               .found = found});
}

template <typename T>
[[nodiscard]] std::vector<T> row_values(const SafetensorsFile& file,
                                        const std::filesystem::path& path, const char* name,
                                        DType dtype) {
  const TensorView* tensor = file.find(name);
  if (tensor == nullptr) refuse_predictions(path, fmt::format("a tensor \"{}\"", name), "none");
  if (tensor->dtype != dtype || tensor->shape.size() != 1) {
    refuse_predictions(
        path, fmt::format("\"{}\" as a row of {}", name, dtype_name(dtype)),
        fmt::format("{} of {} dimensions", dtype_name(tensor->dtype), tensor->shape.size()));
  }
  std::vector<T> values(tensor->bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
  return values;
}

// After which they were made.
[[nodiscard]] inline std::uint32_t epoch_in(const SafetensorsFile& file,
                                            const std::filesystem::path& path) {
  const auto found = file.metadata().find("epoch");
  const std::string text = found == file.metadata().end() ? "" : found->second;
  std::uint32_t epoch = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (text.empty() || read.ec != std::errc{} || read.ptr != text.data() + text.size()) {
    refuse_predictions(path, "the epoch in its metadata", fmt::format("\"{}\"", text));
  }
  return epoch;
}

}  // namespace stoker
