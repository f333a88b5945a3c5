// Published weights of built-in networks: names (published_names.h), image size and number of
// channels may be other ones.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "stoker/io/safetensors.h"
#include "stoker/nn/model.h"

namespace stoker {

// A file's tensors as a network has them: by our names where the file has those of the other
// library; a dense layer as a convolution of 1x1 or the other way round; the first convolution for
// the network's number of channels; positions of tokens for its image size. What cannot be made to
// fit stays as it is. Of a network that is no built-in graph, all does.
class PublishedTensors {
 public:
  // `found` must outlive this.
  PublishedTensors(std::span<const TensorView> found, const std::string& architecture,
                   const ModelInput& input);
  PublishedTensors(const PublishedTensors&) = delete;
  PublishedTensors& operator=(const PublishedTensors&) = delete;

  [[nodiscard]] const std::vector<TensorView>& views() const noexcept { return views_; }

 private:
  std::vector<TensorView> views_;
  std::vector<at::Tensor> made_;
};

// Positions of tokens (1, tokens, channels) for a grid of another size, as timm resamples them:
// `prefix` tokens stay, the others are a square. Undefined where they are not.
[[nodiscard]] at::Tensor resampled_positions(const at::Tensor& positions, std::int64_t rows,
                                             std::int64_t columns, std::int64_t prefix);

}  // namespace stoker
