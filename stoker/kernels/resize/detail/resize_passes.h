// The two passes of a resize, as each version offers them to the driver in resize.cc.
#pragma once

#include "stoker/kernels/resize/detail/resize_weights.h"

namespace stoker::detail {

// The passes read whole vectors: up to this many bytes beyond the end of a row along x. What is
// there has weight zero.
inline constexpr std::size_t kReadBeyond = 128;
// So much they may write beyond the end of a row between the passes.
inline constexpr std::size_t kWriteBeyond = 64;
inline constexpr int kMostRowsAtOnce = 4;

// Rows of the input side, and where their results go: row i at out + i * out_stride.
struct RowGroup {
  const std::uint8_t* rows[kMostRowsAtOnce];
  std::uint8_t* out;
  std::size_t out_stride;
};

struct TablesX {
  int channels;
  int outputs;  // pixels
  int steps;    // of several taps each
  const std::int32_t* offsets;
  const std::uint8_t* weights;
};

// One output row from `count` > 0 rows that lie `stride` bytes apart.
struct RowSum {
  const std::uint8_t* rows;
  std::size_t stride;
  std::size_t bytes;
  const std::int32_t* weights;  // zero from `count` to the next multiple of four
  int count;
};

// Functions of one instruction set.
struct ResizePasses {
  int rows_at_once;
  std::size_t vector_bytes;  // rows that along_y reads have at least this many bytes
  // Puts the weights of scratch.x into the form that along_x reads. False: not possible, take the
  // version below this one.
  bool (*prepare_x)(TablesX& tables, int outputs, int channels, ResizeScratch& scratch);
  void (*along_x)(const RowGroup& group, const TablesX& tables);
  void (*along_y)(std::uint8_t* out, const RowSum& sum);
};

// At least `bytes` of memory on a cache line.
[[nodiscard]] inline std::uint8_t* aligned_memory(std::vector<std::uint8_t>& memory,
                                                  std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  if (memory.size() < bytes + kLine) memory.resize(bytes + kLine);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (kLine - address % kLine) % kLine;
}

// Of the best of Highway's targets, or the forced one; null where that has no vectors.
[[nodiscard]] const ResizePasses* resize_passes_simd();

// For CPUs with AVX-512 VNNI and VBMI; null in builds for others. Ask use_vnni_kernels() first.
[[nodiscard]] const ResizePasses* resize_passes_vnni() noexcept;

}  // namespace stoker::detail
