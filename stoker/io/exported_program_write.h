// Writes a graph of ATen's operators with its weights as a .pt2 file that Python's
// torch.export.load reads, and io/exported_program.h too. Without LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "stoker/io/exported_program.h"
#include "stoker/io/safetensors.h"

namespace stoker {

// A size that may grow with the batch.
struct TracedSize {
  std::int64_t fixed = 0, per_sample = 0;

  [[nodiscard]] bool grows() const noexcept { return per_sample != 0; }
  bool operator==(const TracedSize&) const = default;
};

// What is known of a value.
struct ExportedValue {
  bool is_tensor = true;  // else an integer, `number`
  DType dtype = DType::kF32;
  std::vector<TracedSize> sizes = {}, strides = {};
  TracedSize number = {};
};

struct ExportedParts {
  const ExportedGraph& graph;
  std::span<const ExportedValue> values;  // of the graph's values
  std::span<const TensorView> tensors;    // of its inputs, in their order; unnamed for the images
  std::string facts;                      // extra/stoker.json
};

// A file that either is there as a whole or leaves the old one. The same parts make the same bytes.
void write_exported_program(const std::filesystem::path& path, const ExportedParts& parts);

}  // namespace stoker
