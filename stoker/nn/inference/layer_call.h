// Calls of oneDNN's layers through LibTorch's dispatcher, whose arguments are prepared once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include "stoker/nn/inference/fuse_layers.h"

namespace stoker {

using LayerOperator = std::array<const char*, 2>;  // its name, and which of its overloads

// Whether this LibTorch has them all, and this CPU can compute them.
[[nodiscard]] bool has_operators(std::span<const LayerOperator> operators);

// A call whose arguments are constant but for a few.
class LayerCall {
 public:
  LayerCall(const char* name, const char* overload, std::vector<c10::IValue> arguments);

  // Arguments of these places differ from call to call.
  at::Tensor operator()(std::initializer_list<std::pair<std::size_t, c10::IValue>> variable) const;

 private:
  c10::OperatorHandle operator_;
  std::vector<c10::IValue> arguments_;
};

// An argument for height and width, where one number stands for both; `otherwise` where it is not
// given.
[[nodiscard]] std::vector<std::int64_t> pair_argument(const GraphNode& node, const char* name,
                                                      const std::vector<std::int64_t>& otherwise);

struct ConvolutionNumbers {
  std::vector<std::int64_t> padding, stride, dilation;
  std::int64_t groups = 1;
};
[[nodiscard]] ConvolutionNumbers convolution_numbers(const GraphNode& node);

// As the calls take them.
[[nodiscard]] c10::IValue activation_numbers(const FusedLayer& fused);
// Not the model's own memory, which may change.
[[nodiscard]] c10::IValue own_bias(const at::Tensor& bias);

}  // namespace stoker
