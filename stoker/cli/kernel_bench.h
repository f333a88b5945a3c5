// Times of the image kernels, by size, threads and device, for `stoker bench kernels`. One call at
// a time: figures of calls beside each other would mean nothing.
#pragma once

#include <string>
#include <vector>

#include "stoker/cuda/gpu.h"

namespace stoker {

struct KernelBenchOptions {
  std::vector<int> sizes = {512, 4096};          // sides of the images
  std::vector<int> kernels = {3, 5, 7, 15, 31};  // sides of the kernels of correlation, odd
  std::vector<int> threads = {1, 2, 4, 8};       // of the fast versions on the CPU
  int matrix = 1000;                             // side of maximum and X·Xᵀ, as in the documents
  double seconds = 0.2;                          // for each figure
  bool cpu = true;                               // measure the versions for the CPU
  cuda::Gpu* gpu = nullptr;                      // and those for this one; null: none
};

struct KernelFigure {
  std::string kernel = {};  // "correlation f32", "sobel u8", "maximum i32", "gram f32"
  std::string filter = {};  // of Sobel: f1 to f4, else ""
  int image = 0;            // side
  int rows = 0;             // of the kernel or filter, 0 where there is none
  int columns = 0;
  std::string device = {};    // cpu or cuda
  int threads = 0;            // 0 on the GPU
  std::string method = {};    // "reference" is the trivial loop
  double ms = 0;              // median
  double ms_with_copies = 0;  // on the GPU: operands there and result back included
};

// Trivial loops of more than a billion products are omitted. Throws Error for even sides of
// kernels.
[[nodiscard]] std::vector<KernelFigure> measure_kernels(const KernelBenchOptions& options);

}  // namespace stoker
