// Between LibTorch's tensors and safetensors files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/io/safetensors.h"
#include "stoker/nn/model.h"

namespace stoker {

// Tensors as a file has them: on the CPU, row-major. Owns copies where the originals lie otherwise,
// so the views are valid while this lives and the originals do not change.
class FileTensors {
 public:
  explicit FileTensors(std::span<const NamedTensor> tensors);
  FileTensors(const FileTensors&) = delete;
  FileTensors& operator=(const FileTensors&) = delete;

  [[nodiscard]] const std::vector<TensorView>& views() const noexcept { return views_; }

 private:
  std::vector<at::Tensor> rows_;
  std::vector<TensorView> views_;
};

[[nodiscard]] at::ScalarType scalar_type_of(DType dtype);
// Invariant: a type that files have, not complex numbers.
[[nodiscard]] DType dtype_of(at::ScalarType type);

// A copy of a file's tensor, which may lie at any address there.
[[nodiscard]] at::Tensor tensor_of(const TensorView& view);

// Copies values into `tensors`, wherever those lie. Throws Error before anything is changed unless
// the file has exactly these names, each with the type and shape of the tensor. `path` is for
// messages.
void read_tensors(std::span<const NamedTensor> tensors, const SafetensorsFile& file,
                  const std::string& path);

}  // namespace stoker
